/**
 * B29 without its reload part: code that outlives the call it came from. A live timer, a socket or a listener
 * must not hold the process, and what it throws later is a fault of that plugin, never the end of the run.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStage } from '../support/stage.ts';

const plugin = (setup: string, imports = ''): string => `${imports}import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'lasting' }, (p) => {\n${setup}\nreturn {};\n});\n`;

describe('a headless run ends', () => {
  test.each([
    ['a live interval', 'setInterval(() => p.now(), 50);', ''],
    ['an interval of p.every', 'p.every(50, () => {});', ''],
    ['a server that listens', 'createServer().listen(0);', "import { createServer } from 'node:net';\n"],
    ['a child process', "spawn('sleep', ['60'], { stdio: 'ignore' });", "import { spawn } from 'node:child_process';\n"],
    ['a watched folder', "watch('.');", "import { watch } from 'node:fs';\n"],
    ['listeners of the process', "process.on('exit', () => {}); process.on('beforeExit', () => setTimeout(() => {}, 50)); process.on('SIGTERM', () => {});", ''],
    ['standard input being read', "process.stdin.on('data', () => {});", ''],
  ])('with %s', async (_, setup, imports) => {
    await using on = await openStage([{ text: 'done' }]);
    on.place.plugins({ 'lasting.ts': plugin(setup, imports) });
    const done = await on.run();
    expect(done, done.stderr).toMatchObject({ code: 0, signal: null, stdout: 'done\n' });
    expect(done.ms).toBeLessThan(12_000);
  });
});

test('what is thrown late, over and over, is one fault in a line, and the run goes on', async () => {
  await using on = await openStage([{ text: 'done', delayMs: 600 }]);
  on.place.plugins({ 'lasting.ts': plugin("setInterval(() => { throw new Error('again'); }, 20);\nsetTimeout(() => { void Promise.reject(new Error('alone')); }, 20);") });
  const done = await on.run();
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  const lines = done.stderr.trim().split('\n');
  expect(lines.filter((line) => line.includes('again')).length).toBeLessThanOrEqual(2);
  expect(lines.filter((line) => line.includes('again')).at(-1)).toMatch(/plugin lasting is off: timer: threw again \(lasting\.ts:3\)/);
  expect(lines.filter((line) => line.includes('alone'))).toHaveLength(1);
});

test('the timers of a plugin that was taken down are dead', async () => {
  await using on = await openStage([{ text: 'done', delayMs: 800 }]);
  on.place.plugins({
    'lasting.ts': plugin("let ticks = 0;\nsetInterval(() => { ticks += 1; p.log.info(`tick ${ticks}`); if (ticks <= 3) throw new Error('again'); }, 20);"),
  });
  expect(await on.run()).toMatchObject({ code: 0 });
  const logs = join(on.place.home, 'state', 'logs');
  const [file = ''] = readdirSync(logs);
  const ticks = readFileSync(join(logs, file), 'utf8').match(/tick \d+/g) ?? [];
  // Off at the third of the same failure: no fourth tick.
  expect(ticks).toEqual(['tick 1', 'tick 2', 'tick 3']);
});
