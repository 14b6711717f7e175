/** Safe mode: starts that really die, through the built command. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Finished } from '../support/agent-process.ts';
import { call, openStage, rounds, type Stage } from '../support/stage.ts';
import { eatHeap, stalls } from './ending-plugins.ts';

let stage: Stage;
beforeEach(async () => {
  const script = rounds(call('write_file', { path: 'written', content: 'x' }));
  stage = await openStage((_, n) => script[n % script.length] ?? { text: 'done' });
});
afterEach(() => stage[Symbol.asyncDispose]());

const head = "import { execSync } from 'node:child_process';\nimport { definePlugin } from 'newt-agent';\n";
/** Kills its agent as it starts, as a crash in native code would, unless `$ALIVE` is set. */
const killer = { 'killer/package.json': JSON.stringify({ name: 'killer', version: '1.0.0', type: 'module', agent: { id: 'killer' } }), 'killer/index.ts': `${head}export default definePlugin({}, () => {\n  if (!process.env.ALIVE) execSync(\`kill -9 \${process.pid}\`);\n  return {};\n});\n` };
const agent = (...args: string[]): Promise<Finished> => stage.place.agent(args);
const boots = (): string[] => (existsSync(join(stage.place.home, 'state/boots')) ? readdirSync(join(stage.place.home, 'state/boots')) : []);

async function dieThrice(): Promise<void> {
  for (let death = 0; death < 3; death += 1) expect((await stage.run()).signal).toBe('SIGKILL');
}

test('the fourth start after three that died runs with built-in plugins only, says so on one line, and works', async () => {
  stage.place.plugins(killer);
  await dieThrice();
  const safe = await stage.run();
  expect(safe, safe.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  const said = safe.stderr.split('\n').filter((line) => line.includes('safe mode'));
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(/3 starts in a row died within a minute.*agent run.*bisect -- <command>.*agent plugin disable <id>.*agent plugin release --all/);
  expect(readFileSync(join(stage.place.workspace, 'written'), 'utf8')).toBe('x');
  // It goes on, for other commands as well, which keep their output.
  const list = await agent('plugin', 'list', '--json');
  expect(list.stderr).toMatch(/^agent: safe mode: /);
  expect(JSON.parse(list.stdout)).toEqual(expect.arrayContaining([expect.objectContaining({ id: 'killer', state: 'refused', reason: 'safe mode: only built-in plugins run' })]));
  expect((await stage.run()).code).toBe(0);

  // As the line says: the search finds it, and turned off it lets everybody go on.
  const found = await agent('plugin', 'bisect', '--json', '--', 'agent', 'plugin', 'list');
  expect(JSON.parse(found.stdout), found.stderr).toMatchObject({ culprit: { id: 'killer' } });
  expect((await agent('plugin', 'disable', 'killer')).code).toBe(0);
  const after = await stage.run();
  expect(after, after.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(after.stderr).not.toContain('starts in a row');
  expect((await stage.run()).stderr).not.toContain('safe mode');
}, 120_000);

test('release --all tries everything again, and so does a change of a plugin', async () => {
  stage.place.plugins(killer);
  await dieThrice();
  expect((await stage.run()).code).toBe(0);
  expect(await agent('plugin', 'release', '--all')).toMatchObject({ code: 0, stdout: expect.stringContaining('Safe mode is over') as string });
  await dieThrice();
  expect((await stage.run()).code).toBe(0);
  stage.place.plugins({ 'killer/index.ts': `${head}export default definePlugin({}, () => ({}));\n` });
  const mended = await stage.run();
  expect(mended, mended.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(mended.stderr).toContain('safe mode is over');
  expect((await stage.run()).stderr).not.toContain('safe mode');
}, 120_000);

test('a guard does not fail open: what it guards is denied, and the line says so', async () => {
  stage.place.plugins({ ...killer, 'guard/package.json': JSON.stringify({ name: 'guard', version: '1.0.0', type: 'module', agent: { id: 'guard', capabilities: ['gate:tool.gate'] } }), 'guard/index.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => ({ hooks: { 'tool.gate': () => undefined } }));\n" });
  await dieThrice();
  const safe = await stage.run();
  expect(safe.stderr).toMatch(/safe mode: .*the guard guard cannot be asked, so what it guards is denied/);
  expect(stage.answers()).toMatchObject([{ isError: true, text: expect.stringMatching(/^Not allowed: .*guard/) as string }]);
  expect(existsSync(join(stage.place.workspace, 'written'))).toBe(false);
  // Off by the person's word is another thing.
  await agent('plugin', 'disable', 'guard', 'killer');
  expect((await stage.run()).code).toBe(0);
  expect(existsSync(join(stage.place.workspace, 'written'))).toBe(true);
}, 120_000);

describe('what does not count', () => {
  test('signals, usage errors, failures, and starts that end well', async () => {
    // It asks its agent to end as a person would, while it starts.
    stage.place.plugins({ 'asks.ts': "import { execFileSync } from 'node:child_process';\nimport { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'asks' }, async () => {\n  if (!process.env.ASK) return {};\n  await new Promise((resolve) => setTimeout(resolve, 10));\n  execFileSync('kill', ['-s', process.env.ASK, String(process.pid)]);\n  return new Promise(() => undefined);\n});\n" });
    for (const [signal, code] of [['INT', 130], ['TERM', 143], ['HUP', 129]] as const) expect(await stage.place.agent(['plugin', 'list'], { env: { ASK: signal } })).toMatchObject({ code });
    expect((await agent('run', '--no-such-option')).code).toBe(2);
    expect((await agent('plugin', 'why', 'no.hook')).code).toBe(2);
    expect(boots()).toEqual([]);
    expect((await stage.run()).stderr).not.toContain('safe mode');
  }, 60_000);

  test('nothing is written where there are only built-in plugins, or all others are off', async () => {
    expect((await stage.run()).code).toBe(0);
    expect(existsSync(join(stage.place.home, 'state/boots'))).toBe(false);
    await stage.place.agent(['config', 'set', 'plugins.disabled', '[killer]']);
    stage.place.plugins(killer);
    expect((await stage.run()).code).toBe(0);
    expect(existsSync(join(stage.place.home, 'state/boots'))).toBe(false);
  });

  test('a start that ends well between breaks the row', async () => {
    stage.place.plugins(killer);
    for (const alive of ['', '', '1', '', '']) await stage.run({ env: { ALIVE: alive } });
    expect(boots()).toHaveLength(2);
    expect((await stage.run()).signal).toBe('SIGKILL');
    expect((await stage.run()).stderr).toContain('safe mode');
  }, 60_000);
});

test('a hang that the watchdog ended, and exhausted memory, count', async () => {
  const [, stall = ''] = stalls[0] ?? [];
  await using bad = await openStage(() => ({ toolCalls: [{ name: 'bad', arguments: {} }] }));
  bad.place.plugins({ 'm-bad.ts': stall });
  expect((await bad.run()).code).toBe(70);
  expect(readdirSync(join(bad.place.home, 'state/boots'))).toHaveLength(1);
  rmSync(join(bad.place.home, 'config/plugins/m-bad.ts'));
  bad.place.plugins({ 'm-eats.ts': eatHeap.replace('m-bad', 'm-eats') });
  const full = await bad.run({ env: { NODE_OPTIONS: '--max-old-space-size=64' } });
  expect(full.code === 134 || full.signal === 'SIGABRT' || full.signal === 'SIGKILL', `${full.code} ${full.signal}`).toBe(true);
  expect(readdirSync(join(bad.place.home, 'state/boots'))).toHaveLength(2);
}, 120_000);

test('--safe-mode runs with built-in plugins only, wherever it stands before --', async () => {
  stage.place.plugins(killer);
  for (const words of [['--safe-mode', 'plugin', 'list'], ['plugin', 'list', '--safe-mode']]) {
    const { code, stdout } = await agent(...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/killer +1\.0\.0 +global +refused/);
  }
  expect(boots()).toEqual([]);
  const supervised = await agent('--safe-mode', 'run', '--supervised', '--yes', 'go');
  expect(supervised, supervised.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
});

test('under --supervised the fourth start of the same run is safe, and finishes it', async () => {
  stage.place.plugins(killer);
  const done = await agent('run', '--supervised', '--yes', 'go');
  expect(done.stderr).toContain('starting again by itself, 3 of 3');
  expect(done.stderr).toContain('safe mode: 3 starts in a row died');
  expect(done.code, done.stderr).toBe(0);
}, 60_000);
