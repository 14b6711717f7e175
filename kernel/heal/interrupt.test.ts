/** Interrupting what does not come back, with a real watchdog thread and real signals. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/support/boot.ts';
import { isInterrupted } from './interrupt.ts';
import { noteSigintHandle } from './sigint-handle.ts';
import { takeStalls, Watchdog } from './watchdog.ts';

const entry = 200;
let watchdog: Watchdog;
let pressed = 0;
const listener = (): void => void (pressed += 1);

beforeEach(() => {
  pressed = 0;
  noteSigintHandle(() => process.on('SIGINT', listener));
  watchdog = new Watchdog({ records: join(temporaryFolder(), 'stalls'), patience: { entry, stall: 60_000 } });
  watchdog.over({ path: '/nowhere', id: 'test' });
});
afterEach(() => {
  watchdog.dispose();
  process.off('SIGINT', listener);
});

const turn = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const spin = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
};
const caught = (fn: () => unknown): unknown => {
  try {
    return watchdog.interrupter.run(fn);
  } catch (error) {
    return error;
  }
};

describe('a call that does not come back', () => {
  const mine = new AsyncLocalStorage<string>();
  test.each<[string, () => unknown]>([
    ['an endless loop', () => { for (;;); }],
    ['a regular expression', () => /^(a+)+$/.test(`${'a'.repeat(60)}b`)],
    ['one that catches everything', () => { for (;;) try { for (;;); } catch { /* goes on */ } finally { pressed += 0; } }],
    ['in a callback of a builtin', () => [3, 2, 1].sort(() => { for (;;); })],
    ['in a getter', () => JSON.stringify({ get x() { for (;;); } })],
    ['in the executor of a promise', () => new Promise(() => { for (;;); })],
    ['at the start of an async function', () => (async () => { for (;;); })()],
    ['inside of an async context', () => mine.run('inner', () => { for (;;); })],
    ['inside of an async resource', () => new AsyncResource('test').runInAsyncScope(() => { for (;;); })],
    ['two resources deep', () => new AsyncResource('a').runInAsyncScope(() => new AsyncResource('b').runInAsyncScope(() => { for (;;); }))],
  ])('%s is interrupted, nobody else hears of it, and the context is as before', async (_, fn) => {
    await mine.run('outer', async () => {
      const error = caught(fn);
      expect(isInterrupted(error) && error.byPerson).toBe(false);
      expect(mine.getStore()).toBe('outer');
      await turn();
      expect(mine.getStore()).toBe('outer');
    });
    expect(pressed).toBe(0);
    expect(caught(() => 'goes on')).toBe('goes on');
  });

  test('one after the other, and the next ones are not hit', () => {
    for (let n = 0; n < 5; n += 1) {
      expect(isInterrupted(caught(() => { for (;;); }))).toBe(true);
      for (let k = 0; k < 50; k += 1) expect(caught(() => k)).toBe(k);
    }
  });

  test('one that ends just as it is claimed has its answer, and the signal hits nobody', async () => {
    // Around the limit, whichever comes first: the answer or the interruption.
    for (let ms = entry; ms <= entry + 100; ms += 5) {
      const answer = caught(() => (spin(ms), ms));
      expect(answer === ms || isInterrupted(answer)).toBe(true);
    }
    await turn();
    expect(pressed).toBe(0);
  });

  test('each call of a stretch has a time of its own', () => {
    const { interrupter } = watchdog;
    const done: number[] = [];
    interrupter.enter(() => {
      for (let n = 0; n < 5; n += 1) interrupter.call(interrupter.open(), () => (spin(entry * 0.6), done.push(n)));
    });
    expect(done).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('the Ctrl-C of a person', () => {
  test('before an entry, not yet told, is told after it', async () => {
    process.kill(process.pid, 'SIGINT');
    expect(caught(() => (spin(20), 'done'))).toBe('done');
    await turn();
    expect(pressed).toBe(1);
  });

  test('inside of an entry interrupts it, is nobody’s fault, and is told', async () => {
    const error = caught(() => {
      process.kill(process.pid, 'SIGINT');
      for (;;);
    });
    expect(isInterrupted(error) && error.byPerson).toBe(true);
    await turn();
    expect(pressed).toBe(1);
  });

  test('after entries is told as ever', async () => {
    for (let n = 0; n < 20; n += 1) caught(() => n);
    process.kill(process.pid, 'SIGINT');
    await turn();
    expect(pressed).toBe(1);
  });
});

test('what a plugin throws passes through as it is, an error that looks like an interruption too', () => {
  const fake = Object.assign(new Error('fake'), { code: 'ERR_SCRIPT_EXECUTION_INTERRUPTED' });
  expect(caught(() => { throw fake; })).toBe(fake);
  expect(caught(() => { throw undefined; })).toBe(undefined);
});

test('records that are none are no stalls', () => {
  expect(takeStalls(join(temporaryFolder(), 'none'))).toEqual([]);
});
