/** Calls that wait for the system and never come back: nothing of Node can interrupt them, and still the agent ends, and says why. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStage } from '../support/stage.ts';

const tool = (run: string): string => `import { execSync } from 'node:child_process';
import { definePlugin, tool, z } from 'newt-agent';
export default definePlugin({ id: 'stuck' }, () => ({ tools: { wait: tool({ description: 'x', input: z.object({}), effect: 'read', run: ${run} }) } }));
`;
const script = (_request: unknown, n: number) => (n === 0 ? { toolCalls: [{ name: 'use_tool', arguments: { name: 'wait', args: {} } }] } : { text: 'done' });

test.concurrent.each([
  ['in a tool', "() => String(execSync('sleep 1000'))"],
  ['in a tool, after an await', "async () => {\n  await null;\n  return String(execSync('sleep 1000'));\n}"],
])('a program that is waited for %s: the process ends, and the next start goes on without the plugin', { timeout: 300_000 }, async (_, run) => {
  await using stage = await openStage(script);
  stage.place.plugins({ 'stuck.ts': tool(run) });
  const first = await stage.run({ deadline: 150_000 });
  expect(first.signal ?? first.code, first.stderr).toBe('SIGKILL');
  expect(first.stderr).toMatch(/agent: (plugin stuck blocked the agent for \d+ s|the agent did not respond for \d+ s)/);
  const second = await stage.place.agent(['run', '--continue', '--yes', 'go on'], { deadline: 150_000 });
  expect(second, second.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  expect((await stage.place.agent(['plugin', 'list', '--json'])).stdout).toMatch(/"id": ?"stuck"[^}]*"state": ?"(quarantined|degraded)"/);
});

test.concurrent('a pipe that nobody writes to, read at load: each start ends, and the second one knows', { timeout: 300_000 }, async () => {
  await using stage = await openStage(() => ({ text: 'done' }));
  const fifo = join(stage.place.root, 'fifo');
  execFileSync('mkfifo', [fifo]);
  stage.place.plugins({ 'fifo.ts': `import { readFileSync } from 'node:fs';\nreadFileSync(${JSON.stringify(fifo)});\n` });
  const first = await stage.run({ deadline: 150_000 });
  expect(first.stderr).toContain('plugin fifo blocked the agent');
  const second = await stage.run({ deadline: 150_000 });
  expect(second, second.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
});
