/** Anthropic streams as they come, over a real socket: framing, blocks out of order, errors, and early ends. */
import fc from 'fast-check';
import { isOperational } from 'newt-agent';
import { describe, expect, it } from 'vitest';
import { signatureOf } from '../../test/support/anthropic-server.ts';
import { blockStart, blockStop, delta, fromPackets, json, messageDelta, raw, start, stop, textDelta, tool, withAnthropic } from './anthropic.testing.ts';
import { stream, type Told } from './model.testing.ts';

const open = start + blockStart(0, { type: 'text', text: '' });
const first = textDelta('Grüße ');
const second = textDelta('日本 🦎');
const end = blockStop(0) + messageDelta() + stop;
const answer = open + first + second + end;
const text = 'Grüße 日本 🦎';

function packets(stream: string, size: number): Buffer[] {
  const bytes = Buffer.from(stream);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

describe('a complete answer, however it is framed', () => {
  const ping = 'event: ping\ndata: {"type": "ping"}\n\n';
  const cases: Record<string, string | Buffer[]> = {
    'as Anthropic sends it': answer,
    'pings everywhere': ping + [open, first, second, end].join(ping) + ping,
    'comments': `: hi\n\n${open}: keep-alive\n\n${first}: x\n${second}${end}`,
    'CRLF': answer.replaceAll('\n', '\r\n'),
    'CR only': answer.replaceAll('\n', '\r'),
    'packets of 7 bytes': packets(answer, 7),
    'without event lines': answer.replace(/^event: .*\n/gm, ''),
    'without a type in the data': answer.replace(/"type":"(message_\w+|content_block_\w+)",?/g, ''),
    'single newlines between events': answer.replaceAll('\n\n', '\n'),
    'a last event without a blank line': answer.trimEnd(),
    'a byte-order mark': `\ufeff${answer}`,
    'no message_stop': open + first + second + blockStop(0) + messageDelta(),
    'no message_delta': open + first + second + blockStop(0) + stop,
    '[DONE] in place of message_stop': `${open}${first}${second}data: [DONE]\n\n`,
    '[DONE] behind message_stop': `${answer}data: [DONE]\n\n`,
    'no content_block_stop': open + first + second + messageDelta() + stop,
    'no content_block_start': start + first + second + end,
    'no message_start': blockStart(0, { type: 'text', text: '' }) + first + second + end,
    'two message_starts': start + answer,
    'text in the start of the block': start + blockStart(0, { type: 'text', text: 'Grüße ' }) + second + end,
    'no indices': answer.replaceAll(/,"index":0/g, ''),
    'usage without numbers': answer.replaceAll(/"usage":\{[^}]*\}/g, '"usage":null'),
    'an empty message_start': `event: message_start\ndata: {"type":"message_start"}\n\n${blockStart(0, { type: 'text' })}${first}${second}${end}`,
    'events and deltas of later versions': `event: news\ndata: {"type":"news"}\n\n${open}${first}${delta(0, { type: 'citations_delta', citation: { type: 'x' } })}${second}${delta(0, { type: 'glow_delta', glow: 1 })}${end}`,
    'a block of a later version': open + first + second + blockStop(0) + blockStart(1, { type: 'hologram', data: 'x' }) + delta(1, { type: 'text_delta', text: 'no' }) + blockStop(1) + messageDelta() + stop,
    'null deltas': open + first + delta(0, { type: 'text_delta', text: null }) + second + end,
  };
  it.each(Object.entries(cases))('%s', async (_, rawSse) => {
    const told = await raw(rawSse);
    expect(told.error).toBeUndefined();
    expect(told).toMatchObject({ text, finish: 'stop', calls: [] });
    expect(told.parts.filter(({ type }) => type === 'finish')).toHaveLength(1);
  });

  it('pings between are passed on as signs of life, but not for ever', async () => {
    const { parts } = await raw(start + ping.repeat(150) + blockStart(0, { type: 'text', text: '' }) + first + ping.repeat(3) + end);
    expect(parts.filter(({ type }) => type === 'ping')).toHaveLength(103);
  });

  it('one JSON object in answer to a streaming request', async () => {
    const content = [{ type: 'text', text }, { type: 'tool_use', id: 'a', name: 'ls', input: { path: 'x' } }];
    const told = await raw(JSON.stringify({ id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'tool_use', usage: { input_tokens: 3, output_tokens: 2 } }));
    expect(told).toMatchObject({ text, finish: 'tool-calls', calls: [{ name: 'ls', input: '{"path":"x"}' }] });
  });
});

describe('a tool call', () => {
  const called = (...parts: string[]): Promise<Told> => raw(`${start}${parts.join('')}${blockStop(0)}${messageDelta('tool_use')}${stop}`);
  const input = '{"path":"a"}';
  it.each<[string, string[], string, string]>([
    ['in pieces', [blockStart(0, tool('read_file')), json(''), json('{"path"'), json(':"a"}')], 'read_file', input],
    ['without a name', [blockStart(0, tool(undefined)), json(input)], 'unnamed', input],
    ['with an empty name', [blockStart(0, tool(' ')), json(input)], 'unnamed', input],
    ['with control characters in its name', [blockStart(0, tool('read\u001b[2Jfile')), json(input)], 'read__2Jfile', input],
    ['without an id', [blockStart(0, tool('read_file', { id: undefined })), json(input)], 'read_file', input],
    ['with a number as id', [blockStart(0, tool('read_file', { id: 7 })), json(input)], 'read_file', input],
    ['with its arguments at once', [blockStart(0, tool('read_file', { input: { path: 'a' } }))], 'read_file', input],
    ['with its arguments twice', [blockStart(0, tool('read_file', { input: { path: 'a' } })), json(input)], 'read_file', input],
    ['with arguments that are no text', [blockStart(0, tool('read_file')), json({ path: 'a' })], 'read_file', input],
    ['without arguments', [blockStart(0, tool('read_file', { input: null }))], 'read_file', '{}'],
    ['with half of its arguments', [blockStart(0, tool('read_file')), json('{"path":')], 'read_file', '{"path":'],
    ['that was never opened', [json(input)], 'unnamed', input],
  ])('%s reaches the loop', async (_, parts, name, args) => {
    const told = await called(...parts);
    expect(told.error).toBeUndefined();
    expect(told.calls).toEqual([{ name, input: args }]);
  });

  it('does not mix with one beside it', async () => {
    const told = await called(blockStart(0, tool('a')), blockStart(1, tool('b', { id: 'toolu_2' })), json('{"x":', 0), json('{"y":', 1), json('1}', 0), json('2}', 1), blockStop(1));
    expect([...told.calls].sort((one, other) => (one.name < other.name ? -1 : 1))).toEqual([{ name: 'a', input: '{"x":1}' }, { name: 'b', input: '{"y":2}' }]);
  });
});

describe('errors in a 200 answer', () => {
  const error = (type: string, message = 'no capacity'): string => `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`;
  it.each<[string, string, object]>([
    ['overloaded', error('overloaded_error', 'Overloaded'), { kind: 'server', status: 529, retryable: true }],
    ['api error', error('api_error'), { kind: 'server', status: 500, retryable: true }],
    ['rate limit', error('rate_limit_error'), { kind: 'rate-limit', status: 429, retryable: true }],
    ['billing', error('billing_error'), { kind: 'rate-limit', status: 402, retryable: false }],
    ['no credit', error('invalid_request_error', 'Your credit balance is too low'), { kind: 'rate-limit', retryable: false }],
    ['authentication', error('authentication_error', 'invalid x-api-key'), { kind: 'auth', status: 401 }],
    ['bad request', error('invalid_request_error'), { kind: 'bad-request', status: 400 }],
    ['of a type nobody knows', error('gremlins'), { kind: 'server' }],
    ['in the shape of OpenAI', 'data: {"error":{"message":"no capacity","code":503}}\n\n', { kind: 'server', status: 503 }],
    ['as text', 'event: error\ndata: no capacity\n\n', { kind: 'server' }],
    ['without words', 'event: error\ndata: {"type":"error"}\n\n', { kind: 'server' }],
    ['not JSON', 'data: {broken\n\n', { kind: 'not-a-model', retryable: false }],
    ['of the other wire', 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n', { kind: 'not-a-model' }],
  ])('%s: first, in the middle, and as the first thing of all', async (_, frame, details) => {
    for (const [before, said] of [['', ''], [start, ''], [open + first, 'Grüße ']] as const) {
      const told = await raw(before + frame + second + end);
      expect(told).toMatchObject({ text: said, finish: undefined, calls: [] });
      expect(isOperational(told.error)).toBe(true);
      expect(told.error?.details).toMatchObject(details);
      expect(told.error?.message).not.toContain('\n');
    }
  });

  it('a web page', async () => {
    const { error: page } = await withAnthropic([{ body: '\n<!doctype html><title>Welcome</title>' }], (model) => stream(model));
    expect(page?.message).toContain('answered with a web page, not a model stream; check providers.lab.base_url');
  });

  it('an error object as the whole body', async () => {
    const { error: whole } = await withAnthropic([{ body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } }], (model) => stream(model));
    expect(whole?.details).toMatchObject({ kind: 'server', status: 529 });
  });

  it('an event without end', async () => {
    const rawSse = Array.from({ length: 20 }, (_, index) => Buffer.from(`${index === 0 ? 'data: ' : ''}${'x'.repeat(1_000_000)}`));
    const { error: long } = await raw(rawSse);
    expect(long?.message).toContain('something that is not an Anthropic message (one event of more than 16 MB)');
  });
});

describe('a connection that closes early', () => {
  const half = open + textDelta('half ');
  it.each<[string, Parameters<typeof withAnthropic>[0]]>([
    ['socket destroyed', [{ text: ['half ', 'an answer'], cutAfter: 1 }]],
    ['closed cleanly', [{ rawSse: half }]],
    ['closed cleanly inside an event', [{ rawSse: `${half}event: content_block_delta\ndata: {"type":"content_b` }]],
    ['closed cleanly inside a tool call', [{ rawSse: half + blockStop(0) + blockStart(1, tool('rm')) + json('{"path":', 1) }]],
    ['socket destroyed inside a tool call', [{ text: 'half ', toolCalls: [{ name: 'rm', arguments: { path: '/tmp/x' } }], cutAfter: 3 }]],
  ])('%s: keeps the text, reports no call and no finish, ends in an error', async (_, script) => {
    const { text: said, calls, finish, error } = await withAnthropic(script, (model) => stream(model));
    expect({ said, calls, finish }).toEqual({ said: 'half ', calls: [], finish: undefined });
    expect(error?.details).toMatchObject({ kind: 'cut', retryable: true });
  });

  it('without a single byte', async () => {
    expect((await raw('')).error?.details).toMatchObject({ kind: 'cut' });
  });

  it('is no error once the reason to stop is known', async () => {
    const rawSse = [Buffer.from(open + first + blockStop(0) + messageDelta()), Buffer.from(': x')];
    expect(await withAnthropic([{ rawSse, cutAfter: 1 }], (model) => stream(model))).toMatchObject({ error: undefined, text: 'Grüße ' });
  });
});

it('any split of the bytes into packets gives the same answer', async () => {
  const thinking = 'erst dénken 🤔';
  const whole =
    start + blockStart(0, { type: 'thinking', thinking: '', signature: '' }) + delta(0, { type: 'thinking_delta', thinking }) + delta(0, { type: 'signature_delta', signature: signatureOf(thinking) }) + blockStop(0) +
    blockStart(1, { type: 'text', text: '' }) + textDelta('Grüße ', 1) + 'event: ping\ndata: {"type":"ping"}\n\n' + textDelta('日本 🦎', 1) + blockStop(1) +
    blockStart(2, tool('write_file')) + json('{"content":"ü', 2) + json('🦎"}', 2) + blockStop(2) + messageDelta('tool_use') + stop;
  for (const framed of [whole, whole.replaceAll('\n', '\r\n')]) {
    const bytes = Buffer.from(framed);
    const expected = await fromPackets([bytes]);
    expect(expected).toMatchObject({ text, reasoning: thinking, finish: 'tool-calls', error: undefined, calls: [{ name: 'write_file', input: '{"content":"ü🦎"}' }] });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 60 }), async (cuts) => {
        const at = [0, ...cuts.sort((one, other) => one - other), bytes.length];
        const told = await fromPackets(at.slice(1).map((to, index) => bytes.subarray(at[index], to)));
        expect(told).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  }
});

it('whatever comes ends in a finish or an error that is news, never in a throw', async () => {
  const piece = fc.oneof(
    fc.constantFrom(start, open, first, end, stop, messageDelta(), blockStop(0), blockStart(0, tool('x')), json('{"a"'), 'data: [DONE]\n\n', '\n', 'event: error\n', 'data: {', ': c\n', '<', '{"type":"message"}'),
    fc.tuple(fc.constantFrom('message_start', 'content_block_start', 'content_block_delta', 'message_delta', 'error', 'x'), fc.jsonValue({ maxDepth: 3 })).map(([type, value]) => `event: ${type}\ndata: ${JSON.stringify(value)}\n\n`),
    fc.tuple(fc.constantFrom('text', 'thinking', 'tool_use', 'redacted_thinking', 'text_delta', 'input_json_delta', 'signature_delta'), fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('start', 'delta'), fc.jsonValue({ maxDepth: 0 })).map(([type, value, kind, index]) =>
      `data: ${JSON.stringify({ type: `content_block_${kind}`, index, [kind === 'start' ? 'content_block' : 'delta']: { type, text: value, thinking: value, signature: value, partial_json: value, id: value, name: value, input: value, data: value } })}\n\n`),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const told = await fromPackets(pieces.map((part) => Buffer.from(part)));
      expect((told.finish === undefined) !== (told.error === undefined)).toBe(true);
      if (told.error) expect(isOperational(told.error)).toBe(true);
    }),
    { numRuns: 400 },
  );
});
