/** Every hook kind × policy × failure × place of the failing tap: the call ends as if that tap were not there, or is denied. */
import { describe, expect, test } from 'vitest';
import { type Fault, FaultError } from '../../kernel/heal/fault.ts';
import type { FaultPolicy, HookKind, HookMode, HookSpec } from '../../kernel/hook-spec.ts';
import { boot, hookSpec, inTime, type Inline, type Stage, until } from '../support/boot.ts';
import { type Failure, failures, type Late, wrongAnswers } from './failures.ts';

interface Trail {
  readonly trail: readonly string[];
}

const hook = 'try.it';
const good = ['good', 'sound'] as const;
// Taps run in the order of their ids: before both good ones, between them, after them.
const places = { first: 'bad', between: 'mid-bad', last: 'worst' } as const;
type Place = keyof typeof places;

const forms: readonly (readonly [HookKind, HookMode])[] = [
  ['series', 'sync'],
  ['series', 'async'],
  ['parallel', 'async'],
  ['waterfall', 'sync'],
  ['waterfall', 'async'],
  ['bail', 'sync'],
  ['bail', 'async'],
  ['gate', 'async'],
];

const answersCount = (kind: HookKind): boolean => kind === 'waterfall' || kind === 'bail' || kind === 'gate';

function specOf(kind: HookKind, mode: HookMode, onFault: FaultPolicy): HookSpec {
  const check = kind === 'waterfall' ? (value: unknown) => typeof value === 'object' && value !== null && 'trail' in value : kind === 'bail' ? (value: unknown) => typeof value === 'object' && value !== null && 'n' in value : undefined;
  return hookSpec({ name: hook, kind, mode, onFault, ...(check && { check }) });
}

/** What a tap in order answers to each kind: it notes itself, and abstains where it may. */
function honest(kind: HookKind, id: string, ran: string[]) {
  return (payload: unknown) => {
    ran.push(id);
    if (kind === 'waterfall') return { trail: [...(payload as Trail).trail, id] };
    return kind === 'gate' && id === 'good' ? { verdict: 'allow' } : undefined;
  };
}

async function stageFor(spec: HookSpec, bad: string, run: (payload: unknown, call: never) => unknown, ran: string[]): Promise<Stage> {
  const tapping = (id: string, tap: unknown): Inline => ({ id, facts: { capabilities: [`gate:${hook}`] }, setup: () => ({ hooks: { [hook]: tap } }) });
  return boot([
    { id: 'host', tier: 'builtin', defines: { hooks: [spec] } },
    ...good.map((id) => tapping(id, honest(spec.kind, id, ran))),
    tapping(bad, run),
  ]);
}

const payloadOf = (kind: HookKind) => (kind === 'waterfall' ? { trail: [] } : { n: 0 });

function absent(kind: HookKind): unknown {
  return kind === 'waterfall' ? { trail: good } : kind === 'gate' ? { verdict: 'allow', by: 'good' } : undefined;
}

function expectFault(fault: Fault | undefined, { kind, message }: Failure, bad: string): void {
  expect(fault).toMatchObject({ kind, plugin: bad, tier: 'global', where: `hook ${hook}` });
  expect(fault?.message).toMatch(message);
  expect(fault?.next).toMatch(/agent plugin/);
}

function expectDenial(outcome: unknown, bad: string): void {
  expect(outcome).toMatchObject({ verdict: 'deny', by: bad });
  expect((outcome as { reason: string }).reason).toContain(`agent config set plugins.disabled '["${bad}"]'`);
}

const cases = forms.flatMap(([kind, mode]) =>
  (kind === 'gate' ? (['deny'] as const) : (['skip', 'abort'] as const)).flatMap((policy) =>
    [...failures, ...(answersCount(kind) ? wrongAnswers : [])]
      // A synchronous hook has no asynchronous taps; what happens when one tries is below.
      .filter((failure) => mode === 'async' || failure.mode === 'sync')
      .flatMap((failure) => (Object.keys(places) as Place[]).map((place) => ({ title: `${mode} ${kind}, ${policy}: the ${place} tap ${failure.name}`, kind, mode, policy, failure, place }))),
  ),
);

describe.concurrent('a tap that fails', () => {
  test.for(cases)('$title', async ({ kind, mode, policy, failure, place }) => {
    const bad = places[place];
    const ran: string[] = [];
    const late: Late = { settled: false };
    let calls = 0;
    const fail = (_payload: unknown, call: never): unknown => {
      calls += 1;
      return failure.act(call, late);
    };
    await using stage = await stageFor(specOf(kind, mode, policy), bad, fail, ran);
    let outcome: unknown;
    let thrown: unknown;
    try {
      outcome = await inTime(() => stage.kernel.call(hook, payloadOf(kind)));
    } catch (error) {
      thrown = error;
    }

    const news = failure.kind === undefined && kind !== 'gate';
    if (policy === 'abort' && !news) {
      expect(thrown).toBeInstanceOf(FaultError);
      expectFault((thrown as FaultError).fault, failure, bad);
      return;
    }
    expect(thrown).toBeUndefined();
    expect(ran).toEqual(good);
    if (kind === 'gate') expectDenial(outcome, bad);
    else expect(outcome).toEqual(absent(kind));
    // A gate that cannot answer is at fault, whatever the reason.
    expect(stage.faults.length).toBe(news ? 0 : 1);
    if (!news) expectFault(stage.faults[0], failure.kind ? failure : { ...failure, kind: failure.mode === 'sync' ? 'threw' : 'rejected' }, bad);

    if (/after the deadline/.test(failure.name)) {
      await until(() => late.settled);
      await new Promise(setImmediate);
      expect(stage.faults.length).toBe(1);
    }
    if (failure.kind === 'timeout') {
      // It is known now: nobody waits a second time.
      const second = await stage.kernel.call(hook, payloadOf(kind));
      expect(calls).toBe(1);
      if (kind === 'gate') expectDenial(second, bad);
      else expect(second).toEqual(absent(kind));
    }
  });
});

describe('a tap in order', () => {
  const healthy = forms.flatMap(([kind, mode]) => (['now', 'later'] as const).filter((when) => mode === 'async' || when === 'now').flatMap((when) => (Object.keys(places) as Place[]).map((place) => ({ title: `${mode} ${kind}: the ${place} tap answers ${when}`, kind, mode, when, place }))));

  test.for(healthy)('$title', async ({ kind, mode, when, place }) => {
    const third = places[place];
    const ran: string[] = [];
    const answer = (payload: unknown) => {
      ran.push(third);
      return kind === 'waterfall' ? { trail: [...(payload as Trail).trail, third] } : kind === 'bail' ? { n: 3 } : kind === 'gate' ? { verdict: 'ask', reason: 'sure?' } : undefined;
    };
    await using stage = await stageFor(specOf(kind, mode, kind === 'gate' ? 'deny' : 'skip'), third, when === 'now' ? answer : async (payload) => answer(payload), ran);
    const outcome = await stage.kernel.call(hook, payloadOf(kind));

    const all = [...good, third].sort();
    // A bail stops at the first answer; all other kinds ask everybody.
    expect(ran).toEqual(kind === 'bail' ? all.slice(0, all.indexOf(third) + 1) : all);
    expect(outcome).toEqual(kind === 'waterfall' ? { trail: all } : kind === 'bail' ? { n: 3 } : kind === 'gate' ? { verdict: 'ask', reason: 'sure?', by: third } : undefined);
    expect(stage.faults).toEqual([]);
    expect(stage.plugin(third).state).toBe('activated');
  });
});

describe('an asynchronous tap of a synchronous hook', () => {
  const thenables = [
    ['answers a promise', async () => ({ trail: [] })],
    ['answers a promise that rejects', async () => Promise.reject(new Error('boom'))],
    ['answers a thenable whose then throws', () => ({ then: () => { throw new Error('no then'); } })],
  ] as const;
  const syncForms = forms.filter(([, mode]) => mode === 'sync').flatMap(([kind]) => thenables.map(([name, run]) => ({ title: `${kind}: ${name}`, kind, run })));

  test.for(syncForms)('$title', async ({ kind, run }) => {
    const ran: string[] = [];
    await using stage = await stageFor(specOf(kind, 'sync', 'skip'), 'mid-bad', run, ran);
    expect(stage.kernel.call(hook, payloadOf(kind))).toEqual(absent(kind));
    expect(ran).toEqual(good);
    expect(stage.faults.map(({ plugin, where }) => [plugin, where])).toContainEqual(['mid-bad', `hook ${hook}`]);
    // A rejection nobody waits for must not reach the process: vitest would report it.
    await new Promise(setImmediate);
  });
});

test('a waterfall tap that answers nothing is at fault, and the value is kept', async () => {
  for (const mode of ['sync', 'async'] as const) {
    const ran: string[] = [];
    await using stage = await stageFor(specOf('waterfall', mode, 'skip'), 'mid-bad', () => undefined, ran);
    expect(await stage.kernel.call(hook, { trail: [] })).toEqual({ trail: good });
    expect(stage.faults).toMatchObject([{ kind: 'contract', plugin: 'mid-bad', message: expect.stringContaining('answered undefined') }]);
  }
});

test('an aborted hook asks nobody after the tap that failed', async () => {
  const ran: string[] = [];
  await using stage = await stageFor(specOf('series', 'async', 'abort'), 'mid-bad', () => { throw new Error('boom'); }, ran);
  await expect(stage.kernel.call(hook, { n: 0 })).rejects.toBeInstanceOf(FaultError);
  expect(ran).toEqual(['good']);
});

test('a tap gets a frozen payload: what it does to it is its own fault', async () => {
  const ran: string[] = [];
  await using stage = await stageFor(specOf('waterfall', 'async', 'skip'), 'mid-bad', (payload) => { (payload as { trail: string[] }).trail.push('mine'); return payload; }, ran);
  expect(await stage.kernel.call(hook, { trail: [] })).toEqual({ trail: good });
  expect(stage.faults).toMatchObject([{ kind: 'threw', plugin: 'mid-bad', message: expect.stringContaining('TypeError') }]);
});

describe('a call that the caller gives up', () => {
  const aborting = (_payload: unknown, call: { signal: AbortSignal }) => new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason)));

  test.for(['series', 'parallel', 'waterfall', 'bail'] as const)('is not the fault of a %s tap', async (kind) => {
    const ran: string[] = [];
    await using stage = await stageFor(specOf(kind, 'async', 'skip'), 'mid-bad', aborting, ran);
    const controller = new AbortController();
    const outcome = stage.kernel.call(hook, payloadOf(kind), controller.signal);
    controller.abort();
    expect(await outcome).toEqual(absent(kind));
    expect(stage.faults).toEqual([]);
  });

  test('is not the fault of a guard either, but nothing is allowed', async () => {
    const ran: string[] = [];
    await using stage = await stageFor(specOf('gate', 'async', 'deny'), 'mid-bad', aborting, ran);
    const controller = new AbortController();
    const outcome = stage.kernel.call(hook, { n: 0 }, controller.signal);
    controller.abort();
    expect(await outcome).toMatchObject({ verdict: 'deny', reason: expect.stringContaining('cancelled') });
    expect(stage.faults).toEqual([]);
  });
});
