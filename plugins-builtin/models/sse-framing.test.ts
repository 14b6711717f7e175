/** Framing of answers, over a real socket: bug report B37 case by case. */
import { isOperational } from 'newt-agent';
import { describe, expect, it } from 'vitest';
import { stream, withModel, type Told } from './model.testing.ts';

const chunk = (delta: object, finish: string | null = null): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const first = chunk({ role: 'assistant', content: 'Grüße ' });
const second = chunk({ content: '日本 🦎' });
const stop = chunk({}, 'stop');
const done = 'data: [DONE]\n\n';
const answer = first + second + stop + done;
const text = 'Grüße 日本 🦎';

function packets(stream: string, size: number): Buffer[] {
  const bytes = Buffer.from(stream);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

const raw = (rawSse: string | Buffer[]): Promise<Told> => withModel([{ rawSse }], (model) => stream(model));

describe('a complete answer, however it is framed', () => {
  const usage = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';
  const cases: Record<string, string | Buffer[]> = {
    'as most servers send it': answer,
    'keep-alive comments in one packet with data': `: PROCESSING\n\n: ping\n\n${first}: ping\n\n${second}: PROCESSING\n${stop}${done}`,
    'CRLF': answer.replaceAll('\n', '\r\n'),
    'CR only': answer.replaceAll('\n', '\r'),
    'CR only, without [DONE]': (first + second + stop).replaceAll('\n', '\r'),
    'data: without a blank': answer.replaceAll('data: ', 'data:'),
    'frames with an event type only': `event: ping\n\n${first}event: ping\n\n${second}${stop}${done}`,
    'events without data': `event: ping\ndata:\n\n${first}data: \n\n${second}${stop}${done}`,
    'pings that carry an object': `event: ping\ndata: {}\n\n${first}data: {"type":"ping"}\n\n${second}${stop}${done}`,
    'events that name their type': answer.replaceAll('data: ', 'event: message\ndata: '),
    'ids and retry times': `retry: 3000\nid: 1\n${first}id: 2\n${second}${stop}${done}`,
    'packets cut inside characters': packets(answer, 1),
    'packets cut inside CRLF': packets(answer.replaceAll('\n', '\r\n'), 1),
    'last event without a blank line': (first + second + stop).trimEnd(),
    'last event without a blank line, [DONE]': answer.trimEnd(),
    'single newlines between events': answer.replaceAll('\n\n', '\n'),
    'no [DONE]': first + second + stop,
    '[DONE] without a finish reason': first + second + done,
    'text after [DONE]': `${answer}data: {"error":"late"}\n\n`,
    'a chunk without choices first': `data: {"choices":[],"prompt_filter_results":[]}\n\n${answer}`,
    'a usage chunk last': first + second + stop + usage + done,
    'a byte-order mark': `\ufeff${answer}`,
    'blank lines first': `\n\n\r\n${answer}`,
    'empty finish reasons on the way': answer.replaceAll('"finish_reason":null', '"finish_reason":""'),
    'JSON over several data lines': `data: {"choices":\ndata: [{"index":0,"delta":{"content":${JSON.stringify(text)}},\ndata: "finish_reason":"stop"}]}\n\n`,
  };
  it.each(Object.entries(cases))('%s', async (_, rawSse) => {
    const told = await raw(rawSse);
    expect(told.error).toBeUndefined();
    expect(told).toMatchObject({ text, finish: 'stop', calls: [] });
  });

  it('shows CR-framed text without waiting for the next packet', async () => {
    const gate = Promise.withResolvers<void>();
    const rawSse = [first, second + stop].map((part) => Buffer.from(part.replaceAll('\n', '\r')));
    await withModel([{ rawSse, gate: gate.promise }], async (model) => {
      const { stream: source } = await model.doStream({ prompt: [] });
      const reader = source.getReader();
      for (;;) {
        const { value } = await reader.read();
        if (value?.type === 'text-delta') break;
      }
      gate.resolve();
      await reader.cancel();
    });
  });

  it('usage in the chunk that carries text', async () => {
    const both = 'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';
    const { text: said, parts } = await raw(both + done);
    expect(said).toBe('x');
    expect(parts.at(-1)).toMatchObject({ type: 'finish', usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } } });
  });

  it('one JSON object in answer to a streaming request', async () => {
    const message = { role: 'assistant', content: text, tool_calls: [{ id: 'a', type: 'function', function: { name: 'ls', arguments: '{}' } }] };
    const told = await withModel([{ body: { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] } }], (model) => stream(model));
    expect(told).toMatchObject({ text, finish: 'tool-calls', calls: [{ name: 'ls', input: '{}' }] });
  });
});

describe('errors in a 200 answer', () => {
  it.each<[string, string, string, number | undefined]>([
    ['an object', '{"error":{"message":"no capacity","type":"server_error"}}', 'server', undefined],
    ['an object with a code', '{"error":{"message":"no capacity","code":503}}', 'server', 503],
    ['an object beside choices', '{"error":{"message":"no capacity","code":502},"choices":[{"delta":{},"finish_reason":"error"}]}', 'server', 502],
    ['a string', '{"error":"no capacity"}', 'server', undefined],
    ['rate limit', '{"error":{"message":"no capacity: slow down","code":"rate_limit_exceeded"}}', 'rate-limit', undefined],
    ['object: error', '{"object":"error","message":"no capacity","code":400}', 'bad-request', 400],
  ])('%s', async (_, data, kind, status) => {
    const { text: said, error, finish } = await raw(`${first}data: ${data}\n\n${second}${stop}`);
    expect(said).toBe('Grüße ');
    expect(finish).toBeUndefined();
    expect(error?.message).toContain('no capacity');
    expect(error?.details).toMatchObject({ kind, ...(status === undefined ? {} : { status }) });
  });

  it('event: error with a bare message', async () => {
    const { error } = await raw(`${first}event: error\ndata: {"message":"no capacity"}\n\n`);
    expect(error?.message).toContain('no capacity');
  });

  it('an error object as the whole body', async () => {
    const { error } = await withModel([{ body: { error: { message: 'no capacity', code: 429 } } }], (model) => stream(model));
    expect(error?.details).toMatchObject({ kind: 'rate-limit', status: 429, retryable: true });
  });

  it('a web page', async () => {
    const { error } = await withModel([{ body: '\n<!doctype html><title>Welcome</title>' }], (model) => stream(model));
    expect(error?.message).toContain('answered with a web page, not a model stream; check providers.lab.base_url');
    expect(error?.details).toMatchObject({ kind: 'not-a-model', retryable: false });
  });

  it('a chunk that is not JSON', async () => {
    const { text: said, error } = await raw(`${first}data: {broken\n\n${stop}`);
    expect(said).toBe('Grüße ');
    expect(error?.details.kind).toBe('not-a-model');
  });
});

describe('a connection that closes early', () => {
  const toolStart = chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'rm', arguments: '{"path":' } }] });
  const cases: Record<string, Parameters<typeof withModel>[0]> = {
    'socket destroyed': [{ text: ['half ', 'an answer'], cutAfter: 1 }],
    'closed cleanly': [{ rawSse: chunk({ content: 'half ' }) }],
    'closed cleanly inside an event': [{ rawSse: `${chunk({ content: 'half ' })}data: {"choices":[{"del` }],
    'closed cleanly inside a tool call': [{ rawSse: chunk({ content: 'half ' }) + toolStart }],
    'socket destroyed inside a tool call': [{ text: 'half ', toolCalls: [{ name: 'rm', arguments: { path: '/tmp/x' } }], cutAfter: 3 }],
  };
  it.each(Object.entries(cases))('%s: keeps the text, reports no call and no finish, ends in an error', async (_, script) => {
    const { text: said, calls, finish, error } = await withModel(script, (model) => stream(model));
    expect({ said, calls, finish }).toEqual({ said: 'half ', calls: [], finish: undefined });
    expect(isOperational(error)).toBe(true);
    expect(error?.details).toMatchObject({ kind: 'cut', retryable: true });
  });

  it('without a single byte', async () => {
    const { error } = await raw('');
    expect(error?.details).toMatchObject({ kind: 'cut', retryable: true });
  });

  it('is no error after the finish reason', async () => {
    const { error, text: said } = await withModel([{ rawSse: [Buffer.from(first + stop), Buffer.from(': x')], cutAfter: 1 }], (model) => stream(model));
    expect({ error, said }).toEqual({ error: undefined, said: 'Grüße ' });
  });
});
