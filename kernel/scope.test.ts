import { expect, test } from 'vitest';
import { disposable, Scope } from './scope.ts';

const never = (): never => {
  throw new Error('nothing should have failed');
};

test('what a scope owns is disposed in reverse order, each after the one before has ended', async () => {
  const order: string[] = [];
  const scope = new Scope(1_000, never);
  for (const name of ['first', 'second', 'third']) {
    scope.own({
      async dispose() {
        order.push(`${name} begins`);
        await null;
        order.push(`${name} ends`);
      },
    });
  }
  await scope.dispose();
  expect(order).toEqual(['third begins', 'third ends', 'second begins', 'second ends', 'first begins', 'first ends']);
});

test('a disposer that throws, rejects or never ends does not keep the others', async () => {
  const order: string[] = [];
  const failures: [unknown, boolean][] = [];
  const scope = new Scope(20, (error, timedOut) => failures.push([(error as Error | undefined)?.message, timedOut]));
  scope.own({ dispose: () => void order.push('last') });
  scope.own({ dispose: () => new Promise(() => undefined) });
  scope.own({ dispose: async () => { throw new Error('rejects'); } });
  scope.own({ dispose: () => { throw new Error('throws'); } });
  await scope.dispose();
  expect(order).toEqual(['last']);
  expect(failures).toEqual([['throws', false], ['rejects', false], [undefined, true]]);
});

test('what comes late is disposed at once, and its failure is told', async () => {
  const failures: unknown[] = [];
  const order: string[] = [];
  const scope = new Scope(1_000, (error) => failures.push((error as Error).message));
  await scope.dispose();
  scope.own({ dispose: () => void order.push('late') });
  scope.own({ dispose: () => { throw new Error('late and broken'); } });
  expect(scope.closed).toBe(true);
  expect(order).toEqual(['late']);
  expect(failures).toEqual(['late and broken']);
});

test('what joins while the scope is disposed of is disposed of too', async () => {
  const order: string[] = [];
  const scope = new Scope(1_000, never);
  scope.own({ dispose: () => void scope.own({ dispose: () => void order.push('joined') }) });
  await scope.dispose();
  expect(order).toEqual(['joined']);
});

test('a scope and a disposable act once', async () => {
  let times = 0;
  const scope = new Scope(1_000, never);
  const one = scope.own(disposable(() => void (times += 1)));
  one.dispose();
  await scope.dispose();
  await scope.dispose();
  expect(times).toBe(1);
});
