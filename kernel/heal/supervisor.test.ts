/** What faults lead to: counting, quarantine, memory across runs, probes, recovery. */
import { rmSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { boot, type BootOptions, hookSpec, type Inline, type Stage, temporaryFolder, until } from '../../test/support/boot.ts';

const minute = 60_000;
const host: Inline = {
  id: 'host',
  tier: 'builtin',
  defines: { hooks: [hookSpec({ name: 'one.event', kind: 'series' }), hookSpec({ name: 'two.event', kind: 'series' }), hookSpec({ name: 'may.it', kind: 'gate' })] },
};

/** What the plugin under test does at its next calls; nothing left means that it works. */
class Script {
  readonly plan: ('fail' | 'other' | 'hang' | 'stray' | 'ok')[] = [];
  calls = 0;
  act(where = ''): unknown {
    this.calls += 1;
    switch (this.plan.shift()) {
      case 'fail':
        throw new Error(`boom${where}`);
      case 'other':
        throw new Error(`other ${'abcdefghij'[this.calls]}${where}`);
      case 'hang':
        return new Promise(() => undefined);
      default:
        return undefined;
    }
  }
}

let now = 0;

function plugin(script: Script, more: Partial<Inline> = {}): Inline {
  return { id: 'bad', setup: () => ({ hooks: { 'one.event': () => script.act(), 'two.event': () => script.act(' two') } }), ...more };
}

async function stageOf(plugins: readonly Inline[], options: BootOptions = {}): Promise<Stage> {
  const stage = await boot([host, ...plugins], { now: () => now, ...options });
  onTestFinished(() => stage[Symbol.asyncDispose]());
  return stage;
}

const call = async (stage: Stage, hook = 'one.event', times = 1): Promise<void> => {
  for (let time = 0; time < times; time++) await stage.kernel.call(hook, {});
};

const isOpen = (stage: Stage, hook = 'one.event') => stage.kernel.why(hook).find(({ plugin }) => plugin === 'bad')?.open;

describe('counting', () => {
  test('the same fault three times turns its slot off, and nothing else', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail');
    const stage = await stageOf([plugin(script)]);
    await call(stage, 'one.event', 2);
    expect(isOpen(stage)).toBe(true);
    await call(stage);
    expect(isOpen(stage)).toBe(false);
    expect(stage.plugin('bad')).toMatchObject({ state: 'degraded', reason: expect.stringContaining('is off') });
    const before = script.calls;
    await call(stage, 'one.event', 2);
    expect(script.calls).toBe(before);
    await call(stage, 'two.event');
    expect(script.calls).toBe(before + 1);
  });

  test('fifty clean calls between them begin the count anew, and make it well again', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail');
    const stage = await stageOf([plugin(script)]);
    await call(stage, 'one.event', 2 + 49);
    expect(stage.plugin('bad').state).toBe('degraded');
    await call(stage);
    expect(stage.plugin('bad').state).toBe('activated');
    script.plan.push('fail', 'fail');
    await call(stage, 'one.event', 2);
    expect(isOpen(stage)).toBe(true);
    await call(stage, 'one.event', 49);
    script.plan.push('fail');
    await call(stage);
    expect(isOpen(stage)).toBe(false);
  });

  test('five different faults within a minute turn the slot off', async () => {
    const script = new Script();
    script.plan.push('other', 'other', 'other', 'other', 'other');
    const stage = await stageOf([plugin(script)]);
    await call(stage, 'one.event', 4);
    expect(isOpen(stage)).toBe(true);
    now += minute - 1;
    await call(stage);
    expect(isOpen(stage)).toBe(false);
  });

  test('five different faults in more than a minute do not', async () => {
    const script = new Script();
    script.plan.push('other', 'other', 'other', 'other', 'other');
    const stage = await stageOf([plugin(script)]);
    await call(stage, 'one.event', 4);
    now += minute;
    await call(stage);
    expect(isOpen(stage)).toBe(true);
  });

  test('a second slot turns off the whole plugin', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail', 'fail', 'fail', 'fail');
    const stage = await stageOf([plugin(script)]);
    await call(stage, 'one.event', 3);
    await call(stage, 'two.event', 3);
    expect(stage.plugin('bad').state).toBe('quarantined');
    await until(() => stage.kernel.why('one.event').length === 0 && stage.kernel.why('two.event').length === 0);
  });

  test('of a built-in only slots go', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail', 'fail', 'fail', 'fail');
    const stage = await stageOf([plugin(script, { tier: 'builtin' })]);
    await call(stage, 'one.event', 3);
    await call(stage, 'two.event', 3);
    expect(stage.plugin('bad').state).toBe('degraded');
    expect([isOpen(stage), isOpen(stage, 'two.event')]).toEqual([false, false]);
  });

  test('a time-out is enough', async () => {
    const script = new Script();
    script.plan.push('hang');
    const stage = await stageOf([plugin(script)]);
    await call(stage);
    expect(isOpen(stage)).toBe(false);
  });

  test('any fault of a guard is enough, and it denies from then on', async () => {
    const script = new Script();
    script.plan.push('fail');
    const stage = await stageOf([plugin(script, { facts: { capabilities: ['gate:may.it'] }, setup: () => ({ hooks: { 'may.it': () => script.act() ?? { verdict: 'allow' } } }) })]);
    expect(await stage.kernel.call('may.it', {})).toMatchObject({ verdict: 'deny', by: 'bad' });
    expect(await stage.kernel.call('may.it', {})).toMatchObject({ verdict: 'deny', by: 'bad' });
    expect(script.calls).toBe(1);
  });

  test('what no slot stands for is well again after fifty clean calls of the plugin', async () => {
    const script = new Script();
    const stage = await stageOf([plugin(script, { setup: (p) => {
      p.every(1, () => { if (script.plan.shift() === 'stray') throw new Error('stray'); });
      return { hooks: { 'one.event': () => undefined } };
    } })]);
    script.plan.push('stray', 'stray');
    await until(() => script.plan.length === 0);
    expect(stage.plugin('bad')).toMatchObject({ state: 'degraded', reason: expect.stringContaining('timer') });
    await call(stage, 'one.event', 50);
    expect(stage.plugin('bad').state).toBe('activated');
    script.plan.push('stray', 'stray');
    await until(() => script.plan.length === 0);
    expect(stage.plugin('bad').state).toBe('degraded');
    script.plan.push('stray');
    await until(() => stage.plugin('bad').state === 'quarantined');
  });
});

describe('memory', () => {
  /** Two kernels on one home, one after the other. */
  async function twice(first: Inline, second: Inline, between: (stage: Stage) => Promise<void>): Promise<Stage> {
    const folder = temporaryFolder();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const earlier = await boot([host, first], { folder, now: () => now });
    await between(earlier);
    await earlier.end();
    now += 1;
    return stageOf([second], { folder });
  }

  test('the second start knows which slot is off, says so, and does not call it', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail');
    const stage = await twice(plugin(script), plugin(script), (earlier) => call(earlier, 'one.event', 3));
    await call(stage);
    expect(script.calls).toBe(3);
    expect(stage.plugin('bad')).toMatchObject({ state: 'degraded', reason: expect.stringContaining('boom') });
    expect(stage.kernel.notices()).toEqual([expect.stringMatching(/plugin bad: hook one\.event is off since .*boom.*agent plugin release bad/)]);
  });

  test('the second start does not run a plugin that is off', async () => {
    let setups = 0;
    const broken: Inline = { id: 'bad', setup: () => { setups += 1; throw new Error('boom'); } };
    const stage = await twice(broken, broken, async () => undefined);
    expect(setups).toBe(1);
    expect(stage.plugin('bad')).toMatchObject({ state: 'quarantined', reason: expect.stringContaining('boom') });
    expect(stage.kernel.notices()).toEqual([expect.stringMatching(/plugin bad is off since .*boom.*agent plugin release bad/)]);
  });

  test('faults of several runs add up', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail');
    const stage = await twice(plugin(script), plugin(script), (earlier) => call(earlier, 'one.event', 2));
    expect(stage.plugin('bad').state).toBe('degraded');
    await call(stage);
    expect(isOpen(stage)).toBe(false);
  });

  test('a changed file starts anew', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail');
    const stage = await twice(plugin(script), plugin(script, { source: 'fixed' }), (earlier) => call(earlier, 'one.event', 3));
    expect(stage.plugin('bad').state).toBe('activated');
    await call(stage);
    expect(script.calls).toBe(4);
  });

  test('a bare file goes by the id it told, also when it is not loaded', async () => {
    const broken: Inline = { id: 'file-name', bare: true, facts: { id: 'told' }, setup: () => { throw new Error('boom'); } };
    const stage = await twice(broken, broken, async (earlier) => expect(earlier.faults).toMatchObject([{ plugin: 'told' }]));
    expect(stage.plugin('told').state).toBe('quarantined');
    await stage.kernel.release('told');
    expect(stage.faults).toMatchObject([{ plugin: 'told', message: expect.stringContaining('boom') }]);
  });

  test('a pardon forgets, in this run and the next', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail');
    const stage = await twice(plugin(script), plugin(script), async (earlier) => {
      await call(earlier, 'one.event', 3);
      expect(await earlier.kernel.release('bad')).toMatchObject({ state: 'activated', reason: undefined });
      expect(isOpen(earlier)).toBe(true);
    });
    // What is known of it is clean, so that it need not be started.
    expect(stage.plugin('bad').state).toBe('resolved');
    expect(stage.kernel.notices()).toEqual([]);
  });
});

describe('a probe', () => {
  const waits = [1, 5, 30];

  test('of a slot comes after 1, 5 and 30 minutes, then never', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail');
    const stage = await stageOf([plugin(script)]);
    await call(stage, 'one.event', 3);
    for (const wait of waits) {
      now += wait * minute - 1;
      await stage.kernel.probe();
      expect(isOpen(stage)).toBe(false);
      now += 1;
      await stage.kernel.probe();
      expect(isOpen(stage)).toBe(true);
      const before = script.calls;
      script.plan.push('fail');
      await call(stage, 'one.event', 2);
      expect(script.calls).toBe(before + 1);
      expect(isOpen(stage)).toBe(false);
    }
    now += 10_000 * minute;
    await stage.kernel.probe();
    expect(isOpen(stage)).toBe(false);
  });

  test('of a plugin does too', async () => {
    let setups = 0;
    const stage = await stageOf([{ id: 'bad', setup: () => { setups += 1; throw new Error('boom'); } }]);
    for (const [probe, wait] of waits.entries()) {
      now += wait * minute - 1;
      await stage.kernel.probe();
      expect(setups).toBe(probe + 1);
      now += 1;
      await stage.kernel.probe();
      expect(setups).toBe(probe + 2);
      expect(stage.plugin('bad').state).toBe('quarantined');
    }
    now += 10_000 * minute;
    await stage.kernel.probe();
    expect(setups).toBe(4);
  });

  test('that comes through leaves the plugin degraded; one more fault ends it, and the probes go on where they were', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail');
    const stage = await stageOf([plugin(script)]);
    await call(stage, 'one.event', 3);
    now += minute;
    await stage.kernel.probe();
    await call(stage, 'one.event', 2);
    expect(stage.plugin('bad').state).toBe('degraded');
    script.plan.push('fail');
    await call(stage);
    expect(isOpen(stage)).toBe(false);
    now += minute;
    await stage.kernel.probe();
    expect(isOpen(stage)).toBe(false);
    now += 4 * minute;
    await stage.kernel.probe();
    expect(isOpen(stage)).toBe(true);
  });

  test('that comes through, and fifty calls after it, make it well again', async () => {
    const script = new Script();
    script.plan.push('fail', 'fail', 'fail');
    const stage = await stageOf([plugin(script)]);
    await call(stage, 'one.event', 3);
    now += minute;
    await stage.kernel.probe();
    await call(stage, 'one.event', 50);
    expect(stage.plugin('bad').state).toBe('activated');
  });

  test('of a plugin that comes up brings it back', async () => {
    let broken = true;
    const stage = await stageOf([{ id: 'bad', setup: () => { if (broken) throw new Error('boom'); return { hooks: { 'one.event': () => undefined } }; } }]);
    expect(stage.plugin('bad').state).toBe('quarantined');
    broken = false;
    now += minute;
    await stage.kernel.probe();
    expect(stage.plugin('bad').state).toBe('activated');
    expect(isOpen(stage)).toBe(true);
  });

  test('of a plugin whose timer goes on throwing does not come every minute for ever', async () => {
    const stage = await stageOf([{ id: 'bad', setup: (p) => void p.every(1, () => { throw new Error('stray'); }) }]);
    for (const wait of waits) {
      await until(() => stage.plugin('bad').state === 'quarantined');
      now += wait * minute - 1;
      await stage.kernel.probe();
      expect(stage.plugin('bad').state).toBe('quarantined');
      now += 1;
      await stage.kernel.probe();
      expect(stage.plugin('bad').state).not.toBe('quarantined');
    }
    await until(() => stage.plugin('bad').state === 'quarantined');
    now += 10_000 * minute;
    await stage.kernel.probe();
    expect(stage.plugin('bad').state).toBe('quarantined');
  });

  test('is made of one plugin at a time', async () => {
    let setups = 0;
    const failing = (id: string): Inline => ({ id, setup: () => { setups += 1; throw new Error('boom'); } });
    const stage = await stageOf([failing('one'), failing('two')]);
    setups = 0;
    now += minute;
    await stage.kernel.probe();
    expect(setups).toBe(1);
    await stage.kernel.probe();
    expect(setups).toBe(2);
  });
});
