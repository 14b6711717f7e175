/** The callable members of contributions × failure × policy: the caller gets the policy value or a FaultError, and the rest of the plugin works. */
import { describe, expect, test } from 'vitest';
import type { MemberSpec, PointSpec } from '../../kernel/contribution-spec.ts';
import { type Fault, FaultError, OperationalError } from '../../kernel/heal/fault.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { boot, inTime, type Stage, until } from '../support/boot.ts';
import { type Failure, failures, type Late } from './failures.ts';

const deadline = 60;
type Run = (input: unknown, context?: Record<string, unknown>) => Promise<unknown>;

function point(run: MemberSpec<unknown>): PointSpec<never> {
  return { name: 'jobs', itemName: /^[a-z]+$/, members: { run, rest: { kind: 'call', deadline } } } as PointSpec<never>;
}

/** A plugin whose `run` is `bad`, with a second member that works, beside a plugin in order. */
function stageWith(run: MemberSpec<unknown>, bad: unknown, good: unknown = () => 'fine'): Promise<Stage> {
  return boot([
    { id: 'host', tier: 'builtin', defines: { points: [point(run)] } },
    { id: 'good', setup: () => ({ jobs: { good: { run: good, rest: () => 'rest' } } }) },
    { id: 'bad', setup: () => ({ jobs: { bad: { run: bad, rest: () => 'rest' } } }) },
  ]);
}

function member(kernel: Kernel, item: string, name = 'run'): Run {
  return Reflect.get(kernel.items('jobs').get(item)?.item as object, name) as Run;
}

async function outcomeOf(work: () => Promise<unknown>): Promise<{ value?: unknown; error?: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

function expectFault(fault: Fault | undefined, failure: Pick<Failure, 'kind' | 'message'>): void {
  expect(fault).toMatchObject({ kind: failure.kind, plugin: 'bad', tier: 'global', where: 'jobs/bad.run' });
  expect(fault?.message).toMatch(failure.message);
}

const wrong: Failure = { name: 'answers the wrong type', mode: 'sync', kind: 'contract', message: /wrong type/, act: () => 42 };
const policies = [
  ['with a policy value', (fault: Fault) => `instead of ${fault.plugin}`],
  ['without one', undefined],
] as const;

describe.concurrent('a call that fails', () => {
  const cases = policies.flatMap(([policy, onFault]) =>
    [...failures, wrong, { ...wrong, name: 'answers the wrong type later', mode: 'async' as const, act: async () => 42 }].map((failure) => ({ title: `${failure.name}, ${policy}`, failure, onFault })),
  );

  test.for(cases)('$title', async ({ failure, onFault }) => {
    const late: Late = { settled: false };
    let calls = 0;
    const fail = (_input: unknown, call: never): unknown => {
      calls += 1;
      return failure.act(call, late);
    };
    const spec: MemberSpec<unknown> = { kind: 'call', deadline, check: (value) => typeof value === 'string', ...(onFault && { onFault }) };
    await using stage = await stageWith(spec, fail);
    const run = member(stage.kernel, 'bad');
    const { value, error } = await inTime(() => outcomeOf(() => run({})));

    if (failure.kind === undefined) {
      expect(error).toBeInstanceOf(OperationalError);
      expect(stage.faults).toEqual([]);
    } else {
      if (onFault) expect(value).toBe('instead of bad');
      else expect(error).toBeInstanceOf(FaultError);
      expect(stage.faults.length).toBe(1);
      expectFault(stage.faults[0], failure);
    }
    if (/after the deadline/.test(failure.name)) {
      await until(() => late.settled);
      await new Promise(setImmediate);
      expect(stage.faults.length).toBe(1);
    }
    // The rest of the plugin works, and so does everybody else.
    expect(await member(stage.kernel, 'bad', 'rest')({})).toBe('rest');
    expect(await member(stage.kernel, 'good')({})).toBe('fine');
    if (failure.kind === 'timeout') {
      const second = await outcomeOf(() => run({}));
      expect(calls).toBe(1);
      expect(onFault ? second.value : second.error).toEqual(onFault ? 'instead of bad' : expect.any(FaultError));
    }
  });
});

describe('a call', () => {
  test('answers what the member answers, and hands it the input and what the caller adds', async () => {
    const spec: MemberSpec<unknown> = { kind: 'call', deadline };
    await using stage = await stageWith(spec, (input: { n: number }, call: { extra: string }) => `${input.n} ${call.extra}`, async (input: { n: number }) => input.n + 1);
    expect(await member(stage.kernel, 'bad')({ n: 1 }, { extra: 'more' })).toBe('1 more');
    expect(await member(stage.kernel, 'good')({ n: 1 })).toBe(2);
    expect(stage.faults).toEqual([]);
  });

  test('keeps `this`', async () => {
    await using stage = await boot([
      { id: 'host', tier: 'builtin', defines: { points: [point({ kind: 'call', deadline })] } },
      { id: 'bad', setup: () => ({ jobs: { bad: { word: 'mine', run(this: { word: string }) { return this.word; }, rest: () => 0 } } }) },
    ]);
    expect(await member(stage.kernel, 'bad')({})).toBe('mine');
  });

  test('takes the limit of its caller in place of that of the spec', async () => {
    await using stage = await stageWith({ kind: 'call', deadline: 60_000 }, () => new Promise(() => undefined));
    await expect(inTime(() => member(stage.kernel, 'bad')({}, { limit: 30 }))).rejects.toBeInstanceOf(FaultError);
  });

  test('takes its deadline from the item where the spec says so', async () => {
    const spec = { kind: 'call', deadline: (item: { seconds?: number }) => (item.seconds ?? 60) * 1_000 } as MemberSpec<unknown>;
    await using stage = await boot([
      { id: 'host', tier: 'builtin', defines: { points: [point(spec)] } },
      { id: 'bad', setup: () => ({ jobs: { bad: { seconds: 0.03, run: () => new Promise(() => undefined), rest: () => 0 } } }) },
    ]);
    await expect(member(stage.kernel, 'bad')({})).rejects.toThrow(/30 ms/);
  });

  test('that fails as the spec calls operational is news, sync and async', async () => {
    const spec: MemberSpec<unknown> = { kind: 'call', deadline, operational: (error) => (error as { code?: unknown }).code === 'GONE' };
    const gone = Object.assign(new Error('gone'), { code: 'GONE' });
    await using stage = await stageWith(spec, () => { throw gone; }, async () => { throw gone; });
    await expect(member(stage.kernel, 'bad')({})).rejects.toBe(gone);
    await expect(member(stage.kernel, 'good')({})).rejects.toBe(gone);
    expect(stage.faults).toEqual([]);
  });

  test('that its caller gave up is not at fault', async () => {
    await using stage = await stageWith({ kind: 'call', deadline }, (_input: unknown, call: { signal: AbortSignal }) => new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason))));
    const controller = new AbortController();
    const outcome = outcomeOf(() => member(stage.kernel, 'bad')({}, { signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await outcome).toMatchObject({ error: { message: 'enough' } });
    expect(stage.faults).toEqual([]);
  });

  test('is not made once its slot is off, and the policy value is answered at once', async () => {
    let calls = 0;
    await using stage = await stageWith({ kind: 'call', deadline, onFault: () => 'instead' }, () => { calls += 1; throw new Error('boom'); });
    const run = member(stage.kernel, 'bad');
    for (let call = 0; call < 5; call++) expect(await run({})).toBe('instead');
    expect(calls).toBe(3);
    expect(stage.plugin('bad').state).toBe('degraded');
  });

  test('does not have its deadline run while a person is asked', async () => {
    await using stage = await stageWith({ kind: 'call', deadline }, async () => {
      await stage.kernel.pausing(() => new Promise((resolve) => setTimeout(resolve, 3 * deadline)));
      return 'answered';
    });
    expect(await member(stage.kernel, 'bad')({})).toBe('answered');
  });
});

describe('a service', () => {
  test('runs as long as it likes', async () => {
    await using stage = await stageWith({ kind: 'service', deadline: 1 }, () => new Promise((resolve) => setTimeout(resolve, 3 * deadline, 'done')));
    expect(await member(stage.kernel, 'bad')({})).toBe('done');
  });

  const failing = failures.filter(({ kind }) => kind !== 'timeout');
  test.for(failing.flatMap((failure) => policies.map(([policy, onFault]) => ({ title: `${failure.name}, ${policy}`, failure, onFault }))))('$title', async ({ failure, onFault }) => {
    await using stage = await stageWith({ kind: 'service', ...(onFault && { onFault }) }, (_input: unknown, call: never) => failure.act(call, { settled: false }));
    const { value, error } = await outcomeOf(() => member(stage.kernel, 'bad')({}));
    if (failure.kind === undefined) expect(error).toBeInstanceOf(OperationalError);
    else if (onFault) expect(value).toBe('instead of bad');
    else expect(error).toBeInstanceOf(FaultError);
    expect(stage.faults.length).toBe(failure.kind === undefined ? 0 : 1);
  });
});
