/** How an Anthropic stream is framed, and what fails in it, all the way to standard output. Each case is in `plugins-builtin/models/anthropic-frames.test.ts`. */
import { describe, expect, test } from 'vitest';
import { frame, startAnthropicServer } from '../support/anthropic-server.ts';
import { createPlace, type Finished } from '../support/agent-process.ts';
import type { ModelServer, Script } from '../support/model-server.ts';
import { anthropicConfig } from '../support/wires.ts';

const start = frame({ type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 3, output_tokens: 1 } } });
const open = frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
const text = (piece: string): string => frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } });
const close = frame({ type: 'content_block_stop', index: 0 });
const reason = frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } });
const stop = frame({ type: 'message_stop' });
const whole = start + open + text('grü') + text('ße') + close + reason + stop;
const bytes = Buffer.from(whole);
const inCharacter = bytes.indexOf(0xc3) + 1;

async function run(script: Script): Promise<{ done: Finished; server: ModelServer; deltas: string }> {
  const server = await startAnthropicServer(script);
  const place = createPlace(undefined, anthropicConfig(server.url));
  try {
    const done = await place.agent(['run', 'go']);
    return { done, server, deltas: place.events().flatMap(({ type, data }) => (type === 'delta' ? [data.text] : [])).join('') };
  } finally {
    await server.close();
    place.remove();
  }
}

describe('the answer is whole, in one request', () => {
  test.each<[string, string | Buffer[]]>([
    ['as it should be', whole],
    ['CRLF', whole.replaceAll('\n', '\r\n')],
    ['a packet cut inside a character', [bytes.subarray(0, inCharacter), bytes.subarray(inCharacter)]],
    ['pings and comments', `: hi\n\n${frame({ type: 'ping' })}${whole.replaceAll('\n\n', '\n\n: x\n\n')}`],
    ['no message_stop', start + open + text('grü') + text('ße') + close + reason],
    ['no end of the block', start + open + text('grü') + text('ße') + reason + stop],
    ['one JSON object', JSON.stringify({ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'grüße' }], stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } })],
  ])('%s', async (_, rawSse) => {
    const { done, server } = await run([{ rawSse }]);
    expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'grüße\n' });
    expect(server.requests).toHaveLength(1);
  });
});

test.each<[string, string, number, string]>([
  ['overloaded', frame({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }), 1, 'failed (529: Overloaded)'],
  ['a wrong key', frame({ type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }), 2, 'set providers.lab.api_key'],
  ['not JSON', 'data: {broken\n\n', 2, 'not an Anthropic message'],
  ['the other wire', 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n', 2, 'it speaks the wire openai-chat'],
])('%s in the middle of the stream: what was said is in the log, and one line says what is wrong', async (_, frames, code, words) => {
  const { done, deltas } = await run([{ rawSse: start + open + text('half') + frames }]);
  expect(done).toMatchObject({ code, stdout: '' });
  expect(done.stderr).toContain(words);
  expect(deltas).toBe('half');
});
