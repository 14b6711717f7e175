/** Tool calls no client expects, over a real socket. */
import { describe, expect, it } from 'vitest';
import { stream, withModel, type Told } from './model.testing.ts';

const chunk = (delta: object, finish: string | null = null): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const pieces = (...calls: object[]): string => chunk({ tool_calls: calls });
const answer = (...parts: string[]): Promise<Told> => withModel([{ rawSse: `${parts.join('')}${chunk({}, 'tool_calls')}data: [DONE]\n\n` }], (model) => stream(model));

const input = '{"path":"a"}';
const call = (name: unknown, more: object = {}): object => ({ index: 0, id: 'c1', type: 'function', ...more, function: { name, arguments: input } });

describe('a tool call', () => {
  it.each([
    ['without a name', call(undefined), 'unnamed'],
    ['with the name null', call(null), 'unnamed'],
    ['with an empty name', call(''), 'unnamed'],
    ['with a blank name', call('  '), 'unnamed'],
    ['with a name that is no text', call({ a: 1 }), 'unnamed'],
    ['with control characters in its name', call('read\u001b[2J\u0007file'), 'read__2J_file'],
    ['with the marks of a template in its name', call('read_file<|channel|>'), 'read_file__channel__'],
    ['with a name without end', call('x'.repeat(100_000)), 'x'.repeat(128)],
    ['of another type', call('read_file', { type: 'tool' }), 'read_file'],
    ['with a number as id and text as index', call('read_file', { id: 7, index: '0' }), 'read_file'],
    ['with arguments that are no text', { index: 0, id: 'c1', function: { name: 'read_file', arguments: { path: 'a' } } }, 'read_file'],
  ])('%s reaches the loop', async (_, piece, name) => {
    const told = await answer(pieces(piece));
    expect(told.error).toBeUndefined();
    expect(told.calls).toEqual([{ name, input }]);
  });

  it('without a function reaches the loop', async () => {
    expect((await answer(pieces({ index: 0, id: 'c1' }))).calls).toMatchObject([{ name: 'unnamed' }]);
  });

  it('whose name comes late is called by it', async () => {
    const told = await answer(
      pieces({ index: 0, id: 'c1', function: { arguments: '{"path"' } }),
      pieces({ index: 0, function: { name: 'read_file', arguments: ':' } }),
      pieces({ index: 0, function: { name: '', arguments: '"a"}' } }),
    );
    expect(told.calls).toEqual([{ name: 'read_file', input }]);
  });

  it('without a name does not take others with it', async () => {
    const told = await answer(pieces(call('glob'), call('', { index: 1, id: 'c2' })), pieces(call('grep', { index: 2, id: 'c3' })));
    expect(told.error).toBeUndefined();
    expect(told.calls.map(({ name }) => name).sort()).toEqual(['glob', 'grep', 'unnamed']);
  });

  it('of an answer that was not streamed is mended too', async () => {
    const body = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { arguments: input } }] }, finish_reason: 'tool_calls' }] });
    expect((await withModel([{ rawSse: body }], (model) => stream(model))).calls).toEqual([{ name: 'unnamed', input }]);
  });
});

it('a stream without a line end is given up as no model', async () => {
  const rawSse = Array.from({ length: 20 }, (_, index) => Buffer.from(`${index === 0 ? 'data: ' : ''}${'x'.repeat(1_000_000)}`));
  const begun = performance.now();
  const { error } = await withModel([{ rawSse }], (model) => stream(model));
  expect(error?.message).toContain('answered with something that is not a chat completion (one event of more than 16 MB)');
  expect(error?.details).toMatchObject({ kind: 'not-a-model', retryable: false });
  expect(performance.now() - begun).toBeLessThan(3_000);
});
