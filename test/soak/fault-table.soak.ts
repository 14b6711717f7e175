/**
 * Every way a plugin breaks, in a run and in a chat, as one table: contained, or ended with a log to go on from. The
 * model is a script, everything else is real.
 */
import { expect, test } from 'vitest';
import { brokenPlugins } from '../e2e/broken-plugins.ts';
import { eatHeap, eatHeapLater, stalls } from '../e2e/ending-plugins.ts';
import type { ChatRequest } from '../support/model-server.ts';
import { openStage } from '../support/stage.ts';

interface Row {
  readonly title: string;
  readonly code: string;
  readonly tool: string | undefined;
  readonly cause: RegExp | string;
  /** How the process ends where it cannot be contained. */
  readonly ends?: number | NodeJS.Signals;
  readonly env?: NodeJS.ProcessEnv;
}

const small = { NODE_OPTIONS: '--max-old-space-size=150' };
const rows: Row[] = [
  ...brokenPlugins.map(({ title, code, tool, cause }) => ({ title, code, tool, cause })),
  ...stalls.map(([title, code]) => ({ title: `loops after an await ${title}`, code, tool: 'bad', cause: 'blocked the agent', ends: 70 })),
  { title: 'exhausts the heap in a tool', code: eatHeap, tool: 'bad', cause: 'the agent died while it ran', ends: 'SIGABRT', env: small },
  { title: 'exhausts the heap in a tool after an await', code: eatHeapLater, tool: 'bad', cause: 'the agent died while it ran', ends: 'SIGABRT', env: small },
];

const good = `import { definePlugin, tool, z } from 'newt-agent';
export default definePlugin({ id: 'a-good' }, () => ({ tools: { fine: tool({ description: 'Works.', input: z.object({}), effect: 'read', run: () => 'fine' }) } }));
`;

const ways = [
  ['run', ['run', '--yes', 'go'], undefined],
  ['chat', ['chat', '--yes'], 'go\n'],
] as const;

/** One row in one channel: what came of it, or what is wrong. */
async function examine({ code, tool, cause, ends, env }: Row, args: readonly string[], input: string | undefined): Promise<string> {
  await using on = await openStage((request: ChatRequest) => {
    const name = [tool ?? 'fine', 'fine'][request.messages.filter(({ role }) => role === 'tool').length];
    return name ? { toolCalls: [{ name: 'use_tool', arguments: { name, args: {} } }], delayMs: 30 } : { text: 'all done' };
  });
  on.place.plugins({ 'a-good.ts': good, 'm-broken.ts': code });
  const done = await on.place.agent(args, { ...(input !== undefined && { input }), ...(env && { env }) });
  if (ends !== undefined) {
    if ((done.signal ?? done.code) !== ends) return `WRONG: ended ${done.signal ?? done.code}, not ${ends}: ${done.stderr.slice(-300)}`;
    const again = await on.place.agent([...args.slice(0, 1), '--continue', '--yes'], { ...(input !== undefined && { input: 'go on\n' }) });
    if (again.code !== 0 || !again.stdout.includes('all done')) return `WRONG: could not go on: ${again.stderr.slice(-300)}`;
    return again.stderr.includes(String(cause)) ? `ends ${ends}, goes on without it` : `WRONG: nobody was blamed: ${again.stderr.slice(-300)}`;
  }
  if (done.code !== 0 || !done.stdout.includes('all done')) return `WRONG: ended ${done.signal ?? done.code}: ${done.stderr.slice(-300)}`;
  const told = done.stderr.split('\n').filter((line) => line.includes(String(cause)));
  if (told.length !== 1) return `WRONG: told ${told.length} times: ${done.stderr.slice(-300)}`;
  return `contained, ${(done.ms / 1_000).toFixed(1)} s`;
}

test('every fault in every channel', async () => {
  const table: (readonly string[])[] = [];
  const waiting = [...rows];
  const work = async (): Promise<void> => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      const cells: string[] = [];
      for (const [, args, input] of ways) cells.push(await examine(row, args, input));
      table.push([row.title, ...cells]);
    }
  };
  await Promise.all([work(), work()]);
  const width = Math.max(...table.map(([title = '']) => title.length));
  process.stdout.write(`${table.map(([title = '', run = '', chat = '']) => `${title.padEnd(width)}  ${run.padEnd(36)}  ${chat}`).join('\n')}\n`);
  expect(table.filter((cells) => cells.some((cell) => cell.startsWith('WRONG')))).toEqual([]);
  expect(table).toHaveLength(rows.length);
});
