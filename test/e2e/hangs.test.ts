/**
 * What cannot be interrupted: a loop after an await ends the process with 70, exhausted memory as V8 or the system
 * ends it. Both leave a log to go on with, and the next start blames the right plugin. Real processes throughout; the
 * model is a script.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ChatRequest } from '../support/model-server.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { eatHeap, eatHeapLater, good, stalls, toolPlugin } from './ending-plugins.ts';

// Each of them keeps a processor busy until it is stopped.
vi.setConfig({ testTimeout: 90_000, maxConcurrency: 2 });

const use = (name: string) => ({ toolCalls: [{ name: 'use_tool', arguments: { name, args: {} } }] });

/** Calls the bad tool, then (in the same run or the next) the good one, and answers. */
function script(request: ChatRequest) {
  const results = request.messages.filter(({ role }) => role === 'tool').length;
  return results === 0 ? use('bad') : results === 1 ? use('fine') : { text: 'all done' };
}

async function stage(code: string): Promise<Stage> {
  const on = await openStage(script);
  on.place.plugins({ 'a-good.ts': good, 'm-bad.ts': code });
  return on;
}

const stateOf = async (on: Stage, id: string) => (JSON.parse((await on.place.agent(['plugin', 'list', '--json'])).stdout) as { id: string; state: string; reason: string | null }[]).find((plugin) => plugin.id === id);

test.concurrent.each(stalls)('a loop after an await %s: 70, the plugin is off, the session goes on without it', async (_, code, line) => {
  await using on = await stage(code);
  const first = await on.run();
  expect(first, first.stderr).toMatchObject({ code: 70, signal: null });
  expect(first.ms).toBeLessThan(25_000);
  expect(first.stderr).toMatch(new RegExp(`plugin m-bad blocked the agent for \\d+ s at .*m-bad\\.ts:${line}, where nothing can interrupt it`));
  expect(first.stderr).toContain('agent run --continue');
  const before = on.place.events();
  const second = await on.place.agent(['run', '--continue', '--yes']);
  expect(second, second.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
  expect(second.stderr).toMatch(new RegExp(`plugin m-bad is off: outside of a call: blocked the agent for \\d+ s at m-bad\\.ts:${line}`));
  expect(second.ms).toBeLessThan(12_000);
  const after = on.place.events();
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.map(({ seq }) => seq)).toEqual(after.map((_event, index) => index));
  expect(await stateOf(on, 'm-bad')).toMatchObject({ state: 'quarantined', reason: expect.stringContaining('blocked the agent') as string });
  expect(await stateOf(on, 'a-good')).toMatchObject({ state: 'resolved' });
  // Told once: the record is gone with the telling.
  expect((await on.place.agent(['run', 'go'])).stderr).not.toContain('is off: outside of a call: blocked');
});

test.concurrent.each([
  ['at once', eatHeap],
  ['after an await', eatHeapLater],
])('a tool that exhausts the heap %s: ends as V8 ends it, and the next start blames it', async (_, code) => {
  await using on = await stage(code);
  const first = await on.run({ env: { NODE_OPTIONS: '--max-old-space-size=150' } });
  expect([first.code, first.signal], first.stderr.slice(0, 500)).toEqual([null, 'SIGABRT']);
  const second = await on.place.agent(['run', '--continue', '--yes']);
  expect(second, second.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
  expect(second.stderr).toMatch(/plugin m-bad: tools\/bad: the agent died while it ran \(out of memory\)/);
  expect(await stateOf(on, 'm-bad')).toMatchObject({ reason: expect.stringContaining('the agent died while it ran') as string });
});

test.concurrent('a tool that exhausts memory with Buffers', async () => {
  await using on = await stage(toolPlugin('() => {\n  const kept = [];\n  for (;;) kept.push(Buffer.alloc(400_000_000, 1));\n}'));
  // The system's limit on data stands for a machine that is full: allocation fails, and the process ends or the call does.
  const bin = new URL('../../plugins-builtin/bin.cjs', import.meta.url).pathname;
  const env = { PATH: process.env['PATH'], HOME: on.place.root, AGENT_HOME: on.place.home, AGENT_BASE_URL: on.server.url, AGENT_MODEL: 'test' };
  const child = spawn('/bin/sh', ['-c', 'ulimit -d 1500000; exec "$0" "$@"', process.execPath, bin, 'run', '--yes', 'go'], { env, cwd: on.place.workspace, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => child.once('close', (...end) => resolve(end)));
  if (code === 0) expect(said).toMatch(/plugin m-bad: tools\/bad: .*(allocation|memory|did not come back)/i);
  else {
    expect([134, 137, null, 133], said.slice(-500)).toContain(code);
    if (code === null) expect(['SIGABRT', 'SIGKILL', 'SIGTRAP', 'SIGILL']).toContain(signal);
    const second = await on.place.agent(['run', '--continue', '--yes']);
    expect(second.stderr).toMatch(/plugin m-bad: tools\/bad: the agent died while it ran/);
  }
});

test.concurrent('--supervised: it starts again by itself, without what brought it down', async () => {
  await using stalled = await stage(stalls[0]?.[1] ?? '');
  const done = await stalled.place.agent(['run', '--supervised', '--yes', 'go']);
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
  expect(done.stderr).toMatch(/the agent died \(a hang\); starting again by itself, 1 of 3/);
  await using full = await stage(eatHeap);
  const fed = await full.place.agent(['run', '--supervised', '--yes', 'go'], { env: { NODE_OPTIONS: '--max-old-space-size=150' } });
  expect(fed, fed.stderr.slice(-800)).toMatchObject({ code: 0, stdout: 'all done\n' });
  expect(fed.stderr).toMatch(/the agent died while it ran \((?:out of memory|SIGABRT)\)/);
  expect(await stateOf(full, 'm-bad')).toMatchObject({ state: 'degraded', reason: expect.stringContaining('tools/bad is off') as string });
});

test.concurrent('--supervised gives up, with 70, when it dies again and again, and nothing is remembered of that', async () => {
  await using on = await openStage(() => ({ text: 'never' }));
  // Where starts are on record, the fourth runs with built-in plugins only: see safe-mode.test.ts.
  mkdirSync(join(on.place.home, 'state'), { recursive: true });
  writeFileSync(join(on.place.home, 'state/boots'), '');
  on.place.plugins({ 'm-bad.ts': 'const kept = [];\nfor (;;) kept.push(new Array(200_000).fill({}));\n' });
  const done = await on.place.agent(['run', '--supervised', '--yes', 'go'], { env: { NODE_OPTIONS: '--max-old-space-size=150' } });
  expect(done.code, done.stderr.slice(-300)).toBe(70);
  expect(done.stderr).toContain('the agent died 4 times');
});

test('no process is left', () => {
  const { stdout } = spawnSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' });
  expect(stdout.split('\n').filter((line) => line.includes('bin.cjs run --supervised'))).toEqual([]);
});
