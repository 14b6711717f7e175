/** What a tool shows while it works. */
import { tool, z } from 'newt-agent';
import { expect, onTestFinished, test } from 'vitest';
import { sleep } from '../../test/support/boot.ts';
import { type Desk, openDesk, toolsOf } from './session.testing.ts';

type Output = (text: string) => void;

const shows = (run: (output: Output) => string | Promise<string>): object => tool({ description: 'x', input: z.object({}), effect: 'read', run: (_, { output }) => run(output) });

/** One round that calls these tools, then an answer. */
async function desk(calls: readonly string[], tools: object): Promise<Desk> {
  const at = await openDesk([{ toolCalls: calls.map((name) => ({ id: name, name, arguments: {} })) }, { text: 'done' }], [toolsOf(tools)]);
  onTestFinished(() => at[Symbol.asyncDispose]());
  return at;
}

test('is bounded, and in few records', async () => {
  const flood = shows((output) => {
    for (let n = 0; n < 30_000; n++) output(`${'x'.repeat(999)}\n`);
    return 'done';
  });
  const at = await desk(['flood'], { flood });
  await at.run();
  const shown = at.of('tool.output').map(({ text }) => text);
  expect(shown).toHaveLength(3);
  expect(shown.join('')).toHaveLength(200_000 + shown[2]!.length);
  expect(shown[2]).toBe('… more output is not shown\n');
  expect(at.of('tool.result')).toMatchObject([{ text: 'done' }]);
});

test('comes at most every 100 ms, whole and before the result', async () => {
  const steady = shows(async (output) => {
    for (let n = 0; n < 30; n++) await sleep(10).then(() => output(`${n},`));
    return 'done';
  });
  const at = await desk(['steady'], { steady });
  await at.run();
  const times = at.events.flatMap(({ type, t }) => (type === 'tool.output' ? [t] : []));
  expect(times.length).toBeGreaterThan(2);
  // The last is written when the tool ends, and timers round.
  for (const [index, t] of times.slice(0, -1).entries()) if (index > 0) expect(t - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(95);
  expect(at.of('tool.output').map(({ text }) => text).join('')).toBe(Array.from({ length: 30 }, (_, n) => `${n},`).join(''));
  const types = at.events.map(({ type }) => type);
  expect(types.lastIndexOf('tool.output')).toBeLessThan(types.indexOf('tool.result'));
});

test('is ignored after the call is answered', async () => {
  let late: Output = () => undefined;
  const leaky = shows((output) => ((late = output), 'done'));
  const at = await desk(['leaky', 'later'], { leaky, later: shows(async () => (await sleep(20), late('too late'), 'done')) });
  await at.run();
  expect(at.of('tool.output')).toEqual([]);
});
