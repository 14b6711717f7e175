/** Containment, in a process of its own for each case: whatever a plugin leaves behind is told to be its own, and ends nothing. */
import { fork } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/support/boot.ts';
import type { Told } from '../../test/support/contained-host.ts';
import type { FaultKind } from './fault.ts';

/** What the host chooses to exit with. */
const chosenCode = 7;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly told: Told;
}

const head = "import { definePlugin } from 'newt-agent';\n";
const good = (id: string): string =>
  `${head}export default definePlugin({ id: '${id}' }, () => ({
    hooks: { 'work.trail': ({ trail }) => ({ trail: [...trail, '${id}'] }) },
    jobs: { '${id}': { run: () => '${id} works' } },
  }));`;

/** Runs the host with the plugin `bad` between two good ones. */
async function run(bad: string, expected = 1, host = ''): Promise<Ended> {
  const folder = temporaryFolder();
  try {
    mkdirSync(join(folder, 'plugins'));
    for (const [id, code] of [['a-good', good('a-good')], ['bad', bad], ['z-good', good('z-good')]] as const) writeFileSync(join(folder, 'plugins', `${id}.ts`), code);
    const child = fork(new URL('../../test/support/contained-host.ts', import.meta.url), [folder, String(expected), String(chosenCode), host], { silent: true, execArgv: ['--disable-warning=ExperimentalWarning'] });
    let stdout = '';
    let stderr = '';
    let told: Told | undefined;
    child.stdout?.on('data', (text) => (stdout += text));
    child.stderr?.on('data', (text) => (stderr += text));
    child.on('message', (message) => (told = message as Told));
    const limit = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => child.on('close', (...end) => resolve(end)));
    clearTimeout(limit);
    if (!told) throw new Error(`the host ended with ${code ?? signal} before it could tell: ${stderr}`);
    return { code, signal, stdout, stderr, told };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function expectHostUnharmed({ code, signal, stdout, told }: Ended): void {
  expect({ code, signal, stdout }).toEqual({ code: chosenCode, signal: null, stdout: '' });
  expect((told.answers['trail'] as { trail: string[] }).trail).toEqual(expect.arrayContaining(['a-good', 'z-good']));
  expect(told.answers).toMatchObject({ 'a-good': 'a-good works', 'z-good': 'z-good works' });
  expect(told.plugins.filter(({ id }) => id.endsWith('good')).map(({ state }) => state)).toEqual(['activated', 'activated']);
  expect(told.restored).toBe(true);
  expect(told.listeners[1]).toBe(0);
}

const setup = (code: string): string => `${head}export default definePlugin({ id: 'bad' }, (p) => { ${code} });`;
const hook = (run: string): string => `${head}export default definePlugin({ id: 'bad' }, (p) => ({ hooks: { 'work.start': ${run} } }));`;
const syncHook = (code: string): string => `${head}export default definePlugin({ id: 'bad' }, (p) => ({ hooks: { 'work.trail': (value) => { ${code}; return value; } } }));`;
const job = (run: string): string => `${head}export default definePlugin({ id: 'bad' }, (p) => ({ jobs: { bad: { run: ${run} } } }));`;

interface Case {
  readonly title: string;
  readonly code: string;
  readonly kind: FaultKind;
  readonly where: string;
  readonly message: RegExp;
  readonly state?: 'degraded' | 'quarantined';
}

const strays: readonly Case[] = [
  { title: 'a timer of setup throws', code: setup("setTimeout(() => { throw new Error('stray'); }, 1)"), kind: 'stray', where: 'timer', message: /stray/ },
  { title: 'a timer of an asynchronous hook throws', code: hook("async () => { await null; setTimeout(() => { throw new Error('stray'); }, 1); }"), kind: 'stray', where: 'timer', message: /stray/ },
  { title: 'a timer of a synchronous hook throws', code: syncHook("setTimeout(() => { throw new Error('stray'); }, 1)"), kind: 'stray', where: 'timer', message: /stray/ },
  { title: 'a timer of a timer of a synchronous hook throws', code: syncHook("setTimeout(() => setTimeout(() => { throw 'no stack'; }, 1), 1)"), kind: 'stray', where: 'timer', message: /no stack/ },
  { title: 'an immediate throws', code: setup("setImmediate(() => { throw 'no stack'; })"), kind: 'stray', where: 'timer', message: /no stack/ },
  { title: 'a timer imported from node:timers throws', code: `import { setTimeout as later } from 'node:timers';\n${setup("later(() => { throw 'no stack'; }, 1)")}`, kind: 'stray', where: 'timer', message: /no stack/ },
  { title: 'p.every throws', code: setup("p.every(5, () => { throw new Error('stray'); })"), kind: 'stray', where: 'timer', message: /stray/, state: 'quarantined' },
  { title: 'p.every rejects', code: setup("p.every(5, async () => { throw new Error('stray'); })"), kind: 'stray', where: 'timer', message: /stray/, state: 'quarantined' },
  { title: 'a promise of setup is not awaited', code: setup("void Promise.reject(new Error('floating'))"), kind: 'stray', where: 'unhandled rejection', message: /floating/ },
  { title: 'a promise of an asynchronous hook is not awaited', code: hook("async () => { void Promise.reject('no stack'); }"), kind: 'stray', where: 'unhandled rejection', message: /no stack/ },
  { title: 'a promise of a synchronous hook is not awaited', code: syncHook("void (async () => { throw new Error('floating'); })()"), kind: 'stray', where: 'unhandled rejection', message: /floating/ },
  { title: 'a promise of a job rejects later', code: job("() => { void (async () => { await null; throw 'no stack'; })(); return 'done'; }"), kind: 'stray', where: 'unhandled rejection', message: /no stack/ },
  { title: 'a promise of a timer of a synchronous hook is not awaited', code: syncHook("setTimeout(async () => { throw 'no stack'; }, 1)"), kind: 'stray', where: 'unhandled rejection', message: /no stack/ },
  { title: 'a listener on an emitter of the host throws', code: setup("bus.on('news', () => { throw new Error('listener'); })"), kind: 'stray', where: 'stray error', message: /listener/ },
  { title: 'an emitter of its own has an error nobody hears', code: `import { EventEmitter } from 'node:events';\n${setup("process.nextTick(() => new EventEmitter().emit('error', new Error('unheard')))")}`, kind: 'stray', where: 'stray error', message: /unheard/ },
  { title: 'a microtask throws', code: setup("queueMicrotask(() => { throw 'no stack'; })"), kind: 'stray', where: 'stray error', message: /no stack/ },
  { title: 'a microtask of an asynchronous hook throws', code: hook("async () => { queueMicrotask(() => { throw 'no stack'; }); }"), kind: 'stray', where: 'stray error', message: /no stack/ },
  { title: 'a next tick throws', code: setup("process.nextTick(() => { throw 'no stack'; })"), kind: 'stray', where: 'stray error', message: /no stack/ },
  { title: 'a next tick of a synchronous hook throws', code: syncHook("process.nextTick(() => { throw new Error('tick'); })"), kind: 'stray', where: 'stray error', message: /tick/ },
];

const exits: readonly Case[] = [
  { title: 'exits at load', code: `process.exit(0);\n${setup('')}`, kind: 'load', where: 'load', message: /process\.exit\(0\)/, state: 'quarantined' },
  { title: 'exits at load through node:process', code: `import { exit } from 'node:process';\nexit(0);\n${setup('')}`, kind: 'load', where: 'load', message: /process\.exit\(0\)/, state: 'quarantined' },
  { title: 'exits in setup', code: setup('process.exit(1)'), kind: 'setup', where: 'setup', message: /process\.exit\(1\)/, state: 'quarantined' },
  { title: 'exits in setup, after an await', code: `${head}export default definePlugin({ id: 'bad' }, async () => { await null; process.exit(1); });`, kind: 'setup', where: 'setup', message: /process\.exit\(1\)/, state: 'quarantined' },
  { title: 'exits in an asynchronous hook', code: hook('async () => { await null; process.exit(0); }'), kind: 'exit', where: 'hook work.start', message: /process\.exit\(0\)/ },
  { title: 'exits in a synchronous hook', code: syncHook('process.exit()'), kind: 'exit', where: 'hook work.trail', message: /process\.exit\(\)/ },
  { title: 'exits in a job', code: job('() => process.exit(2)'), kind: 'exit', where: 'jobs/bad.run', message: /process\.exit\(2\)/ },
  { title: 'exits from a timer of a synchronous hook', code: syncHook('setTimeout(() => process.exit(0), 1)'), kind: 'exit', where: 'timer', message: /process\.exit\(0\)/ },
  { title: 'exits from a promise nobody awaits', code: hook('() => { void (async () => { await null; process.exit(0); })(); }'), kind: 'exit', where: 'unhandled rejection', message: /process\.exit\(0\)/ },
  { title: 'exits and swallows the refusal', code: hook('() => { try { process.exit(0); } catch {} }'), kind: 'exit', where: 'process', message: /process\.exit\(0\)/ },
  { title: 'kills the process', code: hook('() => { process.kill(process.pid); }'), kind: 'exit', where: 'hook work.start', message: /SIGTERM/ },
  { title: 'kills its process group', code: hook("() => { process.kill(0, 'SIGKILL'); }"), kind: 'exit', where: 'hook work.start', message: /SIGKILL/ },
  { title: 'aborts the process', code: job('() => process.abort()'), kind: 'exit', where: 'jobs/bad.run', message: /abort/ },
];

describe.concurrent('a plugin whose', () => {
  test.for(strays)('$title', async ({ code, kind, where, message, state = 'degraded' }) => {
    const ended = await run(code);
    expectHostUnharmed(ended);
    expect(ended.told.faults[0]).toMatchObject({ plugin: 'bad', kind, where, message: expect.stringMatching(message) });
    expect(ended.told.plugins.find(({ id }) => id === 'bad')).toMatchObject({ state });
  });
});

describe.concurrent('a plugin that', () => {
  test.for(exits)('$title', async ({ code, kind, where, message, state = 'degraded' }) => {
    const ended = await run(code);
    expectHostUnharmed(ended);
    expect(ended.told.faults).toMatchObject([{ plugin: 'bad', kind, where, message: expect.stringMatching(message) }]);
    expect(ended.told.plugins.find(({ id }) => id === 'bad')).toMatchObject({ state });
  });

  test('sets the exit code does not choose it', async () => {
    expectHostUnharmed(await run(hook('() => { process.exitCode = 3; }'), 0));
  });

  test('floods the console is cut short, in bounded time and space', async () => {
    const ended = await run(hook("() => { for (let line = 0; line < 100_000; line++) console.log('line', line); }"));
    expectHostUnharmed(ended);
    expect(ended.told.faults[0]).toMatchObject({ plugin: 'bad', kind: 'flood', where: 'log' });
    expect(ended.told.took).toBeLessThan(15_000);
    expect(ended.told.logBytes).toBeLessThan(1_000_000);
  });

  test('writes with every method of the console writes to its log alone', async () => {
    const methods = "console.log('x'); console.info('x'); console.warn('x'); console.error('x'); console.debug('x'); console.trace('x'); console.dir({}); console.dirxml({}); console.table([1]); console.group('x'); console.groupCollapsed('x'); console.groupEnd(); console.count(); console.time(); console.timeLog(); console.timeEnd(); console.assert(false, 'x');";
    for (const code of [setup(methods), hook(`async () => { await null; ${methods} }`), `${methods}${setup('')}`]) {
      const ended = await run(code, 0);
      expectHostUnharmed(ended);
      expect(ended.stderr).toBe('');
      expect(ended.told.logBytes).toBeGreaterThan(0);
    }
  });

  test('keeps an interval loses it with its quarantine', async () => {
    const ended = await run(setup("setInterval(() => { seen += 1; }, 1); setInterval(() => { throw new Error('again'); }, 1)"), 2);
    expectHostUnharmed(ended);
    expect(ended.told.plugins.find(({ id }) => id === 'bad')).toMatchObject({ state: 'quarantined' });
    expect(ended.told.ticks[0]).toBeGreaterThan(0);
    expect(ended.told.ticks[1]).toBe(ended.told.ticks[0]);
  });

  test('listens for uncaught errors stops with its quarantine', async () => {
    const ended = await run(`process.on('uncaughtException', () => {}); process.once('uncaughtException', () => {});\n${setup("throw new Error('boom')")}`);
    expectHostUnharmed(ended);
    expect(ended.told.listeners[0]).toBe(0);
  });

  test('listens for uncaught errors stops with the kernel', async () => {
    const ended = await run(setup("process.on('uncaughtException', () => {}); process.prependListener('uncaughtException', () => {}); process.addListener('uncaughtException', () => {})"), 0);
    expectHostUnharmed(ended);
    expect(ended.told.listeners[0]).toBe(3);
  });

  test('takes its listener away itself is not in the way', async () => {
    const ended = await run(setup("const heard = () => {}; process.on('uncaughtException', heard); process.off('uncaughtException', heard); process.once('uncaughtException', heard); process.off('uncaughtException', heard)"), 0);
    expectHostUnharmed(ended);
    expect(ended.told.listeners[0]).toBe(0);
  });

  test('ends the process when somebody else fails ends nothing', async () => {
    // What crash reporters do. The error is the host's own, so nobody's context is a plugin's.
    const ended = await run(setup("process.on('uncaughtException', () => process.exit(9)); bus.on('news', () => queueMicrotask(() => { throw new Error('first'); }))"), 2);
    expectHostUnharmed(ended);
    expect(ended.told.faults).toMatchObject([{ plugin: 'bad', message: expect.stringContaining('first') }, { plugin: 'bad', kind: 'exit' }]);
  });

  test('throws when it hears of an uncaught error is contained too', async () => {
    const ended = await run(setup("process.on('uncaughtException', () => { throw new Error('second'); }); process.nextTick(() => { throw new Error('first'); })"), 2);
    expectHostUnharmed(ended);
    expect(ended.told.faults.map(({ plugin, message }) => [plugin, message])).toEqual([['bad', expect.stringContaining('first')], ['bad', expect.stringContaining('second')]]);
  });
});

const listener = (code: string): string => setup(`bus.on('news', () => { ${code} })`);
const framed = "new URL('a-good.ts', import.meta.url).pathname + ':1:1'";

describe.concurrent('nobody is blamed for', () => {
  test.for([
    ['a stack that was put in the place of its own', listener(`const error = new Error('forged'); error.stack = 'Error: forged\\n    at f (' + ${framed} + ')'; throw error;`)],
    ['a stack that was made up', listener(`throw { message: 'forged', stack: 'Error: forged\\n    at f (' + ${framed} + ')' };`)],
    ['what has no stack', listener("throw 'forged';")],
  ] as const)('%s', async ([, code]) => {
    const ended = await run(code);
    expectHostUnharmed(ended);
    expect(ended.told.faults).toMatchObject([{ kind: 'stray', message: expect.stringContaining('forged'), action: 'the run went on' }]);
    expect(ended.told.faults[0]).not.toHaveProperty('plugin');
  });

  test('a stray error of a part of the agent, which stays on', async () => {
    const ended = await run(setup(''), 1, 'stray');
    expectHostUnharmed(ended);
    expect(ended.told.faults).toMatchObject([{ kind: 'stray', message: expect.stringContaining('ENOENT') }]);
    expect(ended.told.faults[0]).not.toHaveProperty('plugin');
    expect(ended.told.plugins.find(({ id }) => id === 'host')).toMatchObject({ state: 'activated' });
  });
});

test('who looked at a stack and then changed it is told by the stack that was there', async () => {
  const ended = await run(listener(`const error = new Error('forged'); void error.stack; error.stack = 'Error: forged\\n    at f (' + ${framed} + ')'; throw error;`));
  expect(ended.told.faults).toMatchObject([{ plugin: 'bad' }]);
});
