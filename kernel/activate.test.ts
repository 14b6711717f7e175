/** Activation: a transaction, within capabilities, in the order of what is required. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { boot, type BootOptions, hookSpec, type Inline, type Stage, stopwatch, until } from '../test/support/boot.ts';
import type { PointSpec } from './contribution-spec.ts';
import { OperationalError } from './heal/fault.ts';
import { fetchFor } from './fetch.ts';
import type { PluginContext } from './plugin.ts';
import { defineService } from './service.ts';

const point = { name: 'jobs', itemName: /^[a-z]+$/, members: { run: { kind: 'call', deadline: 1_000 } } } as PointSpec<never>;
const host: Inline = { id: 'host', tier: 'builtin', defines: { hooks: [hookSpec({ name: 'one.event', kind: 'series' }), hookSpec({ name: 'may.it', kind: 'gate' })], points: [point] } };

// What a plugin without types does: names that are in no merged map.
interface Loose {
  tap(hook: string, run: unknown): { dispose(): void };
  contribute(point: string, name: string, item: unknown): { dispose(): void };
}
const loose = (p: PluginContext): Loose => p as unknown as Loose;
const job = { run: () => 1 };

async function stageOf(plugins: readonly Inline[], options?: BootOptions): Promise<Stage> {
  const stage = await boot([host, ...plugins], options);
  onTestFinished(() => stage[Symbol.asyncDispose]());
  return stage;
}

const registered = (stage: Stage) => ({ taps: stage.kernel.why('one.event').map(({ plugin }) => plugin), jobs: [...stage.kernel.items('jobs').keys()] });
const states = (stage: Stage) => Object.fromEntries(stage.kernel.plugins().filter(({ id }) => id !== 'host').map(({ id, state }) => [id, state]));

describe('a setup', () => {
  test('registers all at once, when it is through', async () => {
    let seen: unknown;
    let stage: Stage | undefined;
    const watching: Inline = { id: 'one', facts: { activateOn: ['later'] }, async setup(p) {
      loose(p).tap('one.event', () => undefined);
      loose(p).contribute('jobs', 'first', job);
      await null;
      seen = stage && registered(stage);
      return { hooks: { 'one.event': () => undefined }, jobs: { second: job } };
    } };
    stage = await stageOf([watching]);
    await stage.kernel.fire('later');
    expect(seen).toEqual({ taps: [], jobs: [] });
    expect(registered(stage)).toEqual({ taps: ['one', 'one'], jobs: ['first', 'second'] });
    expect(stage.plugin('one')).toMatchObject({ state: 'activated', contributes: ['hook one.event', 'hook one.event', 'jobs/first', 'jobs/second'] });
  });

  const failing: readonly (readonly [string, (p: PluginContext, life: string[]) => unknown])[] = [
    ['throws half way', () => { throw new Error('half way'); }],
    ['rejects half way', async () => { await null; throw new Error('half way'); }],
    ['returns a malformed item after good ones', () => ({ jobs: { good: job, bad: { run: 'half way' } }, hooks: { 'one.event': () => undefined } })],
    ['returns a hook that is no function', () => ({ jobs: { good: job }, hooks: { 'one.event': 'half way' } })],
  ];
  test.for(failing)('that %s leaves nothing behind', async ([, fail]) => {
    const life: string[] = [];
    const stage = await stageOf([
      { id: 'bad', setup(p) {
        loose(p).tap('one.event', () => undefined);
        loose(p).contribute('jobs', 'early', job);
        p.provide(defineService('try.service'), {});
        p.own({ dispose: () => void life.push('disposed') });
        p.every(1, () => void life.push('tick'));
        return fail(p, life) as object;
      } },
      { id: 'good', setup: () => ({ jobs: { fine: job } }) },
    ]);
    expect(states(stage)).toEqual({ bad: 'quarantined', good: 'activated' });
    await until(() => life.includes('disposed'));
    expect(registered(stage)).toEqual({ taps: [], jobs: ['fine'] });
    expect(() => stage.kernel.use('try.service')).toThrow(/not provided/);
    expect(stage.plugin('bad').contributes).toEqual([]);
    const ticks = life.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(life.length).toBe(ticks);
    expect(stage.faults.length).toBe(1);
    expect(stage.faults[0]).toMatchObject({ plugin: 'bad', kind: 'setup' });
  });

  test('that never ends is given up, and does not come up when it ends after all', async () => {
    let end = (): void => undefined;
    const time = stopwatch();
    const stage = await stageOf([{ id: 'bad', setup: () => new Promise((resolve) => (end = () => resolve({ jobs: { late: job } }))) }, { id: 'good' }]);
    expect(time()).toBeLessThan(15_000);
    expect(states(stage)).toEqual({ bad: 'quarantined', good: 'activated' });
    end();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(registered(stage).jobs).toEqual([]);
    expect(states(stage)['bad']).toBe('quarantined');
  });

  test('that was given up does not go on beside the next one', async () => {
    const ends: (() => void)[] = [];
    const stage = await stageOf([{ id: 'bad', setup: () => new Promise((resolve) => ends.push(() => resolve({ hooks: { 'one.event': () => undefined } }))) }]);
    const released = stage.kernel.release('bad');
    await until(() => ends.length === 2);
    for (const end of ends) end();
    await released;
    expect(states(stage)).toEqual({ bad: 'activated' });
    expect(registered(stage).taps).toEqual(['bad']);
  });

  test('may register later, and take back what it registered', async () => {
    let p: PluginContext | undefined;
    const stage = await stageOf([{ id: 'one', setup: (given) => void (p = given) }]);
    const tap = p && loose(p).tap('one.event', () => undefined);
    expect(stage.plugin('one').contributes).toEqual(['hook one.event']);
    tap?.dispose();
    expect(registered(stage).taps).toEqual([]);
    expect(stage.plugin('one').contributes).toEqual([]);
  });

  test('that is over for good cannot register any more', async () => {
    let p: PluginContext | undefined;
    const stage = await stageOf([{ id: 'one', setup: (given) => void (p = given) }]);
    await stage.end();
    if (p) loose(p).contribute('jobs', 'late', job);
    expect(registered(stage).jobs).toEqual([]);
    expect(states(stage)).toEqual({ one: 'disposed' });
  });

  test('is told of a name that is nearly right', async () => {
    const stage = await stageOf([{ id: 'bad', setup: () => ({ hooks: { 'one.evnt': () => undefined } }) }, { id: 'worse', setup: () => ({ job: { one: job } }) }]);
    expect(stage.faults.map(({ plugin, message }) => [plugin, message])).toEqual(
      expect.arrayContaining([['bad', expect.stringContaining('did you mean "one.event"?')], ['worse', expect.stringContaining('did you mean "jobs"?')]]),
    );
  });
});

describe('what is required', () => {
  const clock = defineService<{ read(): number }>('try.clock');

  test('of plugins comes up first', async () => {
    const order: string[] = [];
    await stageOf([
      { id: 'a-top', facts: { requires: { plugins: { 'z-base': '*' } } }, setup: () => void order.push('top') },
      { id: 'z-base', async setup() { await new Promise((resolve) => setTimeout(resolve, 5)); order.push('base'); } },
    ]);
    expect(order).toEqual(['base', 'top']);
  });

  test('of services is waited for, wherever it comes from', async () => {
    const stage = await stageOf([
      { id: 'a-user', facts: { requires: { services: ['try.clock'] } }, setup: (p) => ({ jobs: { read: { run: () => p.use(clock).read() } } }) },
      { id: 'z-clock', facts: { activateOn: ['later'] }, setup: (p) => void p.provide(clock, { read: () => 12 }) },
    ]);
    expect(stage.plugin('a-user')).toMatchObject({ state: 'resolved', reason: 'waits for the service try.clock' });
    await stage.kernel.fire('later');
    await until(() => stage.plugin('a-user').state === 'activated');
    expect(await (stage.kernel.items('jobs').get('read')?.item as { run(input: unknown): Promise<number> }).run({})).toBe(12);
  });

  test('is fallen back from when it goes, and used again when it is back', async () => {
    const fail = { event: false };
    const stage = await stageOf([
      { id: 'base', setup: (p) => {
        p.provide(clock, { read: () => 12 });
        p.every(1, () => { if (fail.event) throw new Error('base fails'); });
      } },
      { id: 'by-id', facts: { requires: { plugins: { base: '*' } } }, setup: () => ({ jobs: { one: job } }) },
      { id: 'by-key', facts: { requires: { services: ['try.clock'] } }, setup: () => ({ jobs: { two: job } }) },
      { id: 'on-top', facts: { requires: { plugins: { 'by-id': '*' } } }, setup: () => ({ jobs: { three: job } }) },
    ]);
    const all = ['base', 'by-id', 'by-key', 'on-top'];
    await until(() => all.every((id) => stage.plugin(id).state === 'activated'));
    fail.event = true;
    await until(() => stage.plugin('base').state === 'quarantined' && registered(stage).jobs.length === 0);
    expect(states(stage)).toEqual({ base: 'quarantined', 'by-id': 'resolved', 'by-key': 'resolved', 'on-top': 'resolved' });
    fail.event = false;
    await stage.kernel.release('base');
    await until(() => all.every((id) => stage.plugin(id).state === 'activated'));
    expect(registered(stage).jobs.sort()).toEqual(['one', 'three', 'two']);
  });

  test('and hangs is to blame alone: who waits for it starts when it does come up', async () => {
    let hangs = true;
    const stage = await stageOf([
      { id: 'base', setup: () => (hangs ? new Promise(() => undefined) : undefined) },
      { id: 'user', facts: { requires: { plugins: { base: '*' } } }, setup: () => ({ jobs: { one: job } }) },
    ]);
    expect(states(stage)).toEqual({ base: 'quarantined', user: 'resolved' });
    expect(stage.plugin('user').reason).toBe('waits for the plugin base');
    expect(stage.faults.map(({ plugin }) => plugin)).toEqual(['base']);
    hangs = false;
    await stage.kernel.release('base');
    await until(() => stage.plugin('user').state === 'activated');
  });

  test('of what never came up is told', async () => {
    const stage = await stageOf([{ id: 'base', setup: () => { throw new Error('boom'); } }, { id: 'user', facts: { requires: { plugins: { base: '*' } } } }]);
    expect(stage.plugin('user')).toMatchObject({ state: 'resolved', reason: 'waits for the plugin base' });
  });
});

describe('the end', () => {
  test('takes plugins down in reverse order, each with all it owns, and none comes up after it', async () => {
    const order: string[] = [];
    let end = (): void => undefined;
    const owning = (id: string, more: Partial<Inline> = {}): Inline => ({ id, setup: (p) => void p.own({ dispose: () => void order.push(id) }), ...more });
    const stage = await stageOf([owning('base'), owning('top', { facts: { requires: { plugins: { base: '*' } } } }), { id: 'slow', facts: { activateOn: ['later'] }, setup: () => new Promise((resolve) => (end = () => resolve({ jobs: { late: job } }))) }]);
    const slow = stage.kernel.fire('later');
    await new Promise(setImmediate);
    await stage.end();
    expect(order).toEqual(['top', 'base']);
    end();
    await slow;
    expect(states(stage)).toEqual({ base: 'disposed', top: 'disposed', slow: 'disposed' });
    expect(registered(stage).jobs).toEqual([]);
  });

  test('waits for a disposer that hangs, but not for ever, and tells who it was', async () => {
    const stage = await stageOf([{ id: 'bad', setup: (p) => void p.own({ dispose: () => new Promise(() => undefined) }) }]);
    const time = stopwatch();
    await stage.end();
    expect(time()).toBeGreaterThan(1_900);
    expect(time()).toBeLessThan(15_000);
    expect(stage.faults).toMatchObject([{ plugin: 'bad', kind: 'dispose' }]);
  });
});

describe('the context', () => {
  test('refuses what no capability was declared for, and says which', async () => {
    const refused: string[] = [];
    await stageOf([{ id: 'one', async setup(p) {
      const attempts = [() => p.exec('true'), () => p.fetch('http://127.0.0.1:1'), () => p.fs.write('/x', ''), () => p.fs.append('/x', ''), () => p.fs.remove('/x'), () => p.fs.makeDirectory('/x'), () => p.env('HOME')];
      for (const attempt of attempts) {
        try {
          await attempt();
        } catch (error) {
          refused.push((error as Error).message);
        }
      }
    } }]);
    expect(refused.map((message) => /used p\.(\S+) without the capability "(.*)"/.exec(message)?.slice(1).join(' '))).toEqual(['exec exec', 'fetch net', 'fs.write fs:write', 'fs.append fs:write', 'fs.remove fs:write', 'fs.makeDirectory fs:write', 'env env:HOME']);
  });

  async function context(capabilities: string[] = [], options: BootOptions = {}): Promise<{ p: PluginContext; stage: Stage }> {
    let p: PluginContext | undefined;
    const stage = await stageOf([{ id: 'one', facts: { capabilities }, setup: (given) => void (p = given) }], options);
    if (!p) throw new Error('not set up');
    return { p, stage };
  }

  test('reads, and writes where declared, with every failure operational', async () => {
    const { p, stage } = await context(['fs:write', 'env:HOME'], { env: { HOME: '/home/ada', OTHER: 'x' } });
    const file = join(stage.folder, 'a', 'b.txt');
    await p.fs.makeDirectory(join(stage.folder, 'a'));
    await p.fs.write(file, 'one');
    await p.fs.append(file, ' two');
    expect(await p.fs.read(file)).toBe('one two');
    expect(Buffer.from(await p.fs.readBytes(file)).toString()).toBe('one two');
    expect(await p.fs.list(join(stage.folder, 'a'))).toEqual(['b.txt']);
    await p.fs.remove(file);
    expect(await p.fs.exists(file)).toBe(false);
    await expect(p.fs.read(file)).rejects.toBeInstanceOf(OperationalError);
    expect(p.env('HOME')).toBe('/home/ada');
    expect(() => p.env('OTHER')).toThrow(/env:OTHER/);
  });

  test('runs programs without a shell, with input, in time, and every failure operational', async () => {
    const { p } = await context(['exec']);
    expect(await p.exec('printf', ['%s', '$HOME;'])).toBe('$HOME;');
    expect(await p.exec('cat', [], { input: 'given' })).toBe('given');
    expect(await p.exec('cat')).toBe('');
    await expect(p.exec('sh', ['-c', 'echo why >&2; exit 3'])).rejects.toMatchObject({ message: 'sh ended with exit code 3: why', details: { exitCode: 3, stderr: 'why\n' } });
    await expect(p.exec('no-such-program-at-all')).rejects.toBeInstanceOf(OperationalError);
    await expect(p.exec('sleep', ['10'], { timeout: 30 })).rejects.toBeInstanceOf(OperationalError);
    const controller = new AbortController();
    const cancelled = expect(p.exec('sleep', ['10'], { signal: controller.signal })).rejects.toBeInstanceOf(OperationalError);
    controller.abort();
    await cancelled;
  });

  test('keeps state across runs, and copes with a file that is damaged', async () => {
    const { p, stage } = await context();
    expect(p.state.get('n')).toBeUndefined();
    p.state.set('n', { list: [1, 2] });
    p.state.set('gone', 1);
    p.state.delete('gone');
    expect(() => p.state.set('bad', (() => 1) as never)).toThrow(/not a JSON value/);
    await stage.end();
    const second = await context([], { folder: stage.folder });
    expect(second.p.state.get('n')).toEqual({ list: [1, 2] });
    expect(second.p.state.get('gone')).toBeUndefined();
    await second.stage.end();
    const file = join(stage.folder, 'home', 'state', 'plugins', 'one.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ n: { list: [1, 2] } });
    for (const [damage, aside] of [['{ damaged', 'one.json.corrupt'], ['[1]', 'one.json.corrupt.2']] as const) {
      writeFileSync(file, damage);
      const third = await context([], { folder: stage.folder });
      expect(third.p.state.get('n')).toBeUndefined();
      expect(readFileSync(join(file, '..', aside), 'utf8')).toBe(damage);
      third.p.state.set('n', 1);
      expect(third.p.state.get('n')).toBe(1);
      expect(readFileSync(join(stage.folder, 'home', 'state', 'logs', 'one.log'), 'utf8')).toContain('its state was damaged');
      await third.stage.end();
    }
  });

  test('does not overwrite a state that it cannot read', async () => {
    const { p, stage } = await context();
    const file = join(stage.folder, 'home', 'state', 'plugins', 'one.json');
    mkdirSync(file, { recursive: true });
    expect(() => p.state.get('n')).toThrow(OperationalError);
    expect(() => p.state.set('n', 1)).toThrow(/state cannot be read: EISDIR/);
    expect(existsSync(`${file}.corrupt`)).toBe(false);
  });

  test('a program is over when it exits, whatever it left running, and that ends with the plugin', async () => {
    const { p, stage } = await context(['exec']);
    const time = stopwatch();
    const pid = Number(await p.exec('sh', ['-c', 'sleep 60 & echo $!'], { timeout: 1_000 }));
    expect(time()).toBeLessThan(900);
    const isAlive = () => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    expect(isAlive()).toBe(true);
    const running = expect(p.exec('sh', ['-c', 'sleep 61; true'])).rejects.toThrow(/cancelled/);
    await stage.end();
    await running;
    await until(() => !isAlive(), 2_000);
    expect(time()).toBeLessThan(5_000);
    await expect(p.exec('true')).rejects.toBeInstanceOf(OperationalError);
  });

  test('a program that will not end is killed', async () => {
    const { p } = await context(['exec']);
    await expect(p.exec('sh', ['-c', 'trap "" TERM; echo so far >&2; while :; do sleep 0.1; done'], { timeout: 300 })).rejects.toThrow('sh did not end within 300 ms: so far');
  });

  test('a program has no secrets but those that were granted or given', async () => {
    const env = { PATH: process.env['PATH'], PLAIN: 'plain', MY_API_KEY: 'granted', OTHER_TOKEN: 'hidden' };
    const { p } = await context(['exec', 'env:MY_API_KEY'], { env });
    const seen = await p.exec('env', [], { env: { GIVEN_SECRET: 'given' } });
    expect(seen.split('\n').filter((line) => /PLAIN|KEY|TOKEN|GIVEN/.test(line)).sort()).toEqual(['GIVEN_SECRET=given', 'MY_API_KEY=granted', 'PLAIN=plain']);
  });

  test('a timer skips turns while the last one runs, and goes on after one that failed', async () => {
    const { p, stage } = await context();
    let [running, most, turns] = [0, 0, 0];
    p.every(5, async () => {
      most = Math.max(most, (running += 1));
      turns += 1;
      await new Promise((resolve) => setTimeout(resolve, 30));
      running -= 1;
      if (turns === 1) throw new Error('once');
    });
    await until(() => turns > 3, 5_000);
    expect(most).toBe(1);
    expect(stage.faults).toMatchObject([{ plugin: 'one', kind: 'stray' }]);
  });

  test('a request ends with the plugin, and is not waited for without end', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    onTestFinished(() => void (server.closeAllConnections(), server.close()));
    await until(() => server.listening, 2_000);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { p, stage } = await context(['net']);
    const given = new AbortController();
    const aborted = expect(p.fetch(url, { signal: given.signal })).rejects.toThrow('mine');
    given.abort(new Error('mine'));
    await aborted;
    await expect(fetchFor(new AbortController().signal, url, {}, 50)).rejects.toThrow(/could not reach .*: no answer within 0.05 s/);
    await expect(fetchFor(new AbortController().signal, url, { signal: new AbortController().signal }, 50)).rejects.toBeInstanceOf(OperationalError);
    const ended = expect(p.fetch(url)).rejects.toThrow(/the plugin has ended/);
    await stage.end();
    await ended;
  });

  test('has the time and the chance of its kernel', async () => {
    const { p } = await context([], { now: () => 12, random: () => 0.5 });
    expect([p.now(), p.random()]).toEqual([12, 0.5]);
  });

  test('has its checked part of the configuration; a wrong part refuses the plugin, not the run', async () => {
    const config = z.object({ colour: z.enum(['red', 'blue']).default('red') });
    const seen: unknown[] = [];
    const configured = (id: string): Inline => ({ id, config, setup: (p) => void seen.push([p.id, p.config]) });
    const stage = await stageOf([configured('one'), configured('two'), configured('three')], { configOf: ({ id }) => ({ one: undefined, two: { colour: 'blue' }, three: { colour: 'green' } })[id as 'one'] });
    expect(seen).toEqual([['one', { colour: 'red' }], ['two', { colour: 'blue' }]]);
    expect(stage.plugin('three')).toMatchObject({ state: 'refused', reason: expect.stringMatching(/^plugins\.config\.three\.colour: .*agent config set plugins\.config\.three\.colour/) });
    expect(stage.faults).toEqual([]);
  });
});
