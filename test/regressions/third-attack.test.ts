/** What newcomers and attackers found in hangs, chat and restarts. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openStage } from '../support/stage.ts';

const bin = fileURLToPath(new URL('../../plugins-builtin/bin.cjs', import.meta.url));
const usePlugin = (name: string) => (_request: unknown, n: number) => (n === 0 ? { toolCalls: [{ name: 'use_tool', arguments: { name, args: {} } }] } : { text: 'done' });
const withTool = (id: string, tool: string, run: string): string => `import { definePlugin, tool, z } from 'newt-agent';
export default definePlugin({ id: '${id}' }, () => ({ tools: { ${tool}: tool({ description: 'x', input: z.object({}), effect: 'read', run: ${run} }) } }));
`;

test.concurrent('an interrupted loop is blamed by file and line, also at load', async () => {
  await using stage = await openStage(usePlugin('spin'));
  stage.place.plugins({ 'spin.ts': withTool('spin', 'spin', '() => {\n  let n = 0;\n  for (;;) n += 1;\n}'), 'load.ts': '\nlet n = 0;\nfor (;;) n += 1;\n' });
  const done = await stage.run();
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(done.stderr).toMatch(/plugin spin: tools\/spin: did not come back within 3 s, and was interrupted \(spin\.ts:4\)/);
  expect(done.stderr).toMatch(/plugin load is off: did not come back within 3 s, and was interrupted \(load\.ts:3\)/);
  expect((await stage.place.agent(['plugin', 'faults', 'spin'])).stdout).toMatch(/> 4 \| {3}for \(;;\) n \+= 1;\n +\| +\^/);
});

test.concurrent('a file whose plugin has another id is blamed under that one, once', async () => {
  await using stage = await openStage(usePlugin('later'));
  stage.place.plugins({ 'fname.ts': withTool('realid', 'later', 'async () => {\n  await null;\n  for (;;);\n}') });
  const first = await stage.run();
  expect(first, first.stderr).toMatchObject({ code: 70 });
  expect(first.stderr).toContain('plugin realid blocked the agent');
  expect((await stage.place.agent(['plugin', 'list'])).stdout).toMatch(/^realid .*quarantined/m);
  expect((await stage.place.agent(['plugin', 'release', 'realid'])).code).toBe(0);
  const next = await stage.place.agent(['run', '--yes', 'and now?']);
  expect(next.stderr).not.toContain('died while it ran');
});

test.concurrent('what stands behind /exit in a pipe is not said', async () => {
  await using stage = await openStage(() => ({ text: 'answered' }));
  for (let round = 0; round < 5; round += 1) {
    const before = stage.server.requests.length;
    const done = await stage.place.agent(['chat'], { input: 'one\n/help\ntwo\n/exit\nnever\nnever\n' });
    expect(done, done.stderr).toMatchObject({ code: 0 });
    expect(stage.server.requests.slice(before).map(({ body }) => JSON.stringify(body.messages.at(-1)))).toEqual([expect.stringContaining('one'), expect.stringContaining('two')]);
  }
});

test.concurrent('an agent whose starter is gone ends, however that went', async () => {
  await using stage = await openStage(() => ({ text: 'late', delayMs: 20_000 }));
  const env = { PATH: process.env['PATH'], HOME: stage.place.root, AGENT_HOME: stage.place.home, AGENT_BASE_URL: stage.server.url, AGENT_MODEL: 'test' };
  const starter = spawn(process.execPath, [bin, 'run', '--supervised', '--yes', 'go'], { env, cwd: stage.place.workspace, stdio: ['ignore', 'pipe', 'ignore'] });
  await expect.poll(() => stage.place.events().length, { timeout: 15_000 }).toBeGreaterThan(1);
  const isOver = new Promise((resolve) => starter.stdout.once('close', resolve));
  starter.stdout.resume();
  starter.kill('SIGKILL');
  // Its end of the pipe closes with the agent, not with the starter.
  await isOver;
  await expect.poll(() => stage.place.events().at(-1), { timeout: 10_000 }).toMatchObject({ type: 'stop', data: { reason: 'cancelled' } });
});
