/**
 * B37: how a stream is cut into lines and packets decides whether an answer arrives. Every framing is in
 * `plugins-builtin/models/sse-framing.test.ts`; here the ones of the report, all the way to standard output.
 */
import { describe, expect, test } from 'vitest';
import { openStage } from '../support/stage.ts';

const chunk = (content: string, more: object = {}): string => JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'test', choices: [{ index: 0, delta: { content }, finish_reason: null }], ...more });
const finish = JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'test', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'test', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } });
const frames = (end: string, ...data: string[]): string => data.map((text) => `data: ${text}${end}${end}`).join('');

const whole = Buffer.from(frames('\n', chunk('grü'), chunk('ße'), finish, '[DONE]'));
const inCharacter = whole.indexOf(0xc3) + 1;

describe('the answer is whole, in one request', () => {
  test.each<[string, string | Buffer[]]>([
    ['comments in the same packet', `: PROCESSING\n\n: ping\n\n${whole.toString()}`],
    ['CRLF', frames('\r\n', chunk('grü'), chunk('ße'), finish, '[DONE]')],
    ['CR alone', frames('\r', chunk('grü'), chunk('ße'), finish, '[DONE]')],
    ['no blank after data:', whole.toString().replaceAll('data: ', 'data:')],
    ['frames of an event without data', `event: ping\n\n${whole.toString()}event: end\n\n`],
    ['a packet cut inside a character', [whole.subarray(0, inCharacter), whole.subarray(inCharacter)]],
    ['a packet cut inside CRLF', [Buffer.from(`data: ${chunk('grü')}\r`), Buffer.from(`\n\r\n${frames('\r\n', chunk('ße'), finish, '[DONE]')}`)]],
    ['a last event without a blank line', `${frames('\n', chunk('grü'), chunk('ße'))}data: ${finish}`],
    ['no [DONE]', frames('\n', chunk('grü'), chunk('ße'), finish)],
    ['no choices in the first and the last chunk', frames('\n', usage, chunk('grü'), chunk('ße'), finish, usage, '[DONE]')],
    ['usage beside the text', frames('\n', chunk('grü', { usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }), chunk('ße'), finish, '[DONE]')],
  ])('%s', async (_, rawSse) => {
    await using on = await openStage([{ rawSse }]);
    expect(await on.run()).toMatchObject({ code: 0, stdout: 'grüße\n' });
    expect(on.server.requests).toHaveLength(1);
  });
});

test('an error object in a 200 stream is an error, not an empty answer', async () => {
  await using on = await openStage([{ rawSse: frames('\n', chunk('half'), JSON.stringify({ error: { message: 'the model crashed', code: 500 } })) }]);
  const done = await on.run();
  expect(done.code).not.toBe(0);
  expect(done.stdout).toBe('');
  expect(done.stderr).toContain('the model crashed');
});
