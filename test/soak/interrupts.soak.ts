/**
 * Ctrl-C at random moments of a run, among them inside of a plugin call that does not come back by itself: it always
 * cancels, nothing else ends by accident, no child is left. The moments are drawn from a seed, which is printed.
 */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { ChatRequest } from '../support/model-server.ts';
import { openStage } from '../support/stage.ts';

const moments = 20;
const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 2 ** 31);

const busy = (id: string): string => `import { definePlugin, tool, z } from 'newt-agent';
const spin = (ms) => { for (const end = Date.now() + ms; Date.now() < end; ); };
export default definePlugin({ id: '${id}' }, () => ({
  tools: { spin: tool({ description: 'Works hard.', input: z.object({}), effect: 'read', run: () => { spin(900); return 'spun'; } }) },
  hooks: { 'tool.before': async (use) => { spin(150); await null; spin(50); return use; }, 'turn.start': () => spin(100) },
}));
`;

test(`Ctrl-C at ${moments} random moments, seed ${seed}`, async () => {
  let state = seed;
  const random = (): number => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const marker = String(2_000_000 + (seed % 1_000_000));
  const calls = [
    [{ name: 'use_tool', arguments: { name: 'spin', args: {} } }],
    [{ name: 'run_command', arguments: { command: `sleep 1; sleep ${marker} & sleep 0.2` } }],
    [{ name: 'use_tool', arguments: { name: 'spin', args: {} } }, { name: 'run_command', arguments: { command: `sleep ${marker}` } }],
  ];
  const table: string[] = [];
  for (let n = 0; n < moments; n += 1) {
    await using on = await openStage((request: ChatRequest) => {
      const round = calls[request.messages.filter(({ role }) => role === 'assistant').length];
      return round ? { toolCalls: round, delayMs: 50 } : { text: 'done' };
    });
    on.place.plugins({ 'busy.ts': busy('busy') });
    const after = Math.round(random() * 4_500);
    let pressed = 0;
    const done = await on.place.agent(['run', '--yes', 'go'], {
      onStart: (child) => setTimeout(() => {
        pressed = performance.now();
        child.kill('SIGINT');
      }, after),
    });
    const late = Math.round(performance.now() - pressed);
    const left = spawnSync('pgrep', ['-fa', `sleep ${marker}|${on.place.root}`], { encoding: 'utf8' }).stdout;
    const plugins = JSON.parse((await on.place.agent(['plugin', 'list', '--json'])).stdout) as { id: string; state: string }[];
    const how = done.signal ?? done.code;
    const last = on.place.eventsOrNone().at(-1);
    table.push(`${String(after).padStart(5)} ms  ended ${how} after ${late} ms, last record: ${last?.type ?? '-'}`);
    // Before the command listens the system's own way to end holds; after that its own word for it.
    expect([130, 'SIGINT'], `${table.join('\n')}\n${done.stderr}`).toContain(how);
    expect(late, table.join('\n')).toBeLessThan(6_000);
    if (last) expect(last, table.join('\n')).toMatchObject({ type: 'stop', data: { reason: 'cancelled' } });
    expect(left).toBe('');
    // Nobody is blamed for what the person stopped.
    expect(plugins.find(({ id }) => id === 'busy')).toMatchObject({ state: 'activated' });
  }
  process.stdout.write(`${table.join('\n')}\n`);
});
