import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Deadline, Sweeper } from './deadline.ts';

let now: number;
let sweeper: Sweeper;
beforeEach(() => {
  now = 1_000;
  sweeper = new Sweeper(() => now);
});
afterEach(() => sweeper.stop());

const tick = 25;

/** Moves the clock and sweeps at every tick, as the real one does. */
function pass(ms: number): void {
  for (const end = now + ms; now < end; ) {
    now = Math.min(now + tick, end);
    sweeper.sweep();
  }
}

test('a deadline is never early and at most two ticks late, whatever the ticks are like', () => {
  const steps = fc.array(fc.integer({ min: 1, max: tick }), { minLength: 80, maxLength: 160 });
  fc.assert(
    fc.property(fc.array(fc.record({ limit: fc.integer({ min: 1, max: 400 }), from: fc.integer({ min: 0, max: 30 }) }), { minLength: 1, maxLength: 20 }), steps, (waits, ticks) => {
      now = 0;
      const own = new Sweeper(() => now);
      const set = new Map<number, number>();
      const expired = new Map<number, number>();
      ticks.forEach((step, at) => {
        waits.forEach(({ limit, from }, id) => {
          if (from !== at) return;
          set.set(id, now);
          own.watch(limit, () => expired.set(id, now));
        });
        now += step;
        own.sweep();
      });
      own.stop();
      for (const [id, start] of set) {
        const due = start + (waits[id]?.limit ?? 0);
        const met = expired.get(id);
        if (met === undefined) expect(due + 2 * tick).toBeGreaterThan(now);
        else {
          expect(met).toBeGreaterThanOrEqual(due);
          expect(met).toBeLessThanOrEqual(due + 2 * tick);
        }
      }
    }),
  );
});

test('a clock that stood still makes no deadline early', () => {
  const expired: string[] = [];
  now += 60_000; // the process slept before the first sweep
  sweeper.watch(100, () => expired.push('one'));
  now += 60_000;
  sweeper.sweep();
  expect(expired).toEqual([]);
  pass(75);
  expect(expired).toEqual([]);
  pass(25);
  expect(expired).toEqual(['one']);
});

test('time in which the event loop stood still counts for nobody', () => {
  const expired: string[] = [];
  sweeper.watch(100, () => expired.push('one'));
  pass(75); // seen by the first sweep 25 ms in: 50 are used
  now += 60_000;
  sweeper.sweep(); // one tick of it is counted: 75 are used
  expect(expired).toEqual([]);
  pass(25);
  expect(expired).toEqual(['one']);
});

test('what is cleared does not expire, and clearing again changes nothing', () => {
  const expired: string[] = [];
  const [first, second, third] = ['first', 'second', 'third'].map((name) => sweeper.watch(50, () => expired.push(name))) as [Deadline, Deadline, Deadline];
  sweeper.clear(second);
  sweeper.clear(second);
  pass(200);
  expect(expired.sort()).toEqual(['first', 'third']);
  sweeper.clear(first);
  sweeper.clear(third);
  expect(sweeper.watch(50, () => undefined).active).toBe(true);
});

test('the time a person is asked does not count, however often it is nested', () => {
  const expired: string[] = [];
  const deadline = sweeper.watch(100, () => expired.push('one'));
  pass(75); // seen by the first sweep 25 ms in: 50 are used
  sweeper.pause(deadline);
  sweeper.pause(deadline);
  pass(10_000);
  sweeper.resume(deadline);
  pass(10_000);
  sweeper.resume(deadline);
  expect(expired).toEqual([]);
  pass(50);
  expect(expired).toEqual([]);
  pass(50);
  expect(expired).toEqual(['one']);
});

test('pausing before the first sweep costs nothing of the limit', () => {
  const expired: string[] = [];
  const deadline = sweeper.watch(100, () => expired.push('one'));
  sweeper.pause(deadline);
  pass(1_000);
  sweeper.resume(deadline);
  pass(100);
  expect(expired).toEqual([]);
  pass(50);
  expect(expired).toEqual(['one']);
});

test('an expiry may clear its neighbours, set new deadlines, and clear all', () => {
  const expired: string[] = [];
  const all: Deadline[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    all.push(
      sweeper.watch(50, () => {
        expired.push(name);
        for (const other of all) sweeper.clear(other);
        sweeper.watch(50, () => expired.push(`${name} again`));
      }),
    );
  }
  pass(75);
  expect(expired.length).toBe(1);
  pass(100);
  expect(expired).toEqual([expired[0], `${expired[0]} again`]);
});

test('10,000 deadlines expire once each, and clearing them is not a search', () => {
  let expired = 0;
  const all = Array.from({ length: 10_000 }, () => sweeper.watch(50, () => (expired += 1)));
  for (const deadline of all.slice(0, 5_000)) sweeper.clear(deadline);
  pass(100);
  expect(expired).toBe(5_000);
  pass(100);
  expect(expired).toBe(5_000);
});

test('the clock keeps the process alive while something is watched, and not longer', async () => {
  const script = `import { Sweeper } from ${JSON.stringify(new URL('./deadline.ts', import.meta.url).href)};
    const sweeper = new Sweeper(() => performance.now());
    sweeper.clear(sweeper.watch(60_000, () => console.log('never')));
    sweeper.watch(30, () => console.log('expired'));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 });
  expect(stdout).toBe('expired\n');
});
