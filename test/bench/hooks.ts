/** Costs of guarded hooks over bare tapable, in nanoseconds per tap, from one run of one process. */
import tapable from 'tapable';
import { tmpdir } from 'node:os';
import { Sweeper } from '../../kernel/heal/deadline.ts';
import type { Fault } from '../../kernel/heal/fault.ts';
import { HookPoint } from '../../kernel/hook-point.ts';
import type { HookSpec } from '../../kernel/hook-spec.ts';
import { Provenance } from '../../kernel/heal/provenance.ts';
import { Slot, type SlotFunction, type SlotOwner } from '../../kernel/slot.ts';
import { noteSigintHandle } from '../../kernel/heal/sigint-handle.ts';
import { Watchdog } from '../../kernel/heal/watchdog.ts';
import type { Row } from './report.ts';

const taps = 20;
const samples = 25;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const observer = {
  failed(): Fault {
    throw new Error('no tap of a benchmark fails');
  },
  clean() {},
};

/** Each tap has a source of its own, so that none of them shares its type feedback. */
function handlers(source: (index: number) => string): SlotFunction[] {
  return Array.from({ length: taps }, (_, index) => new Function(`return ${source(index)}`)() as SlotFunction);
}

function point(spec: Partial<HookSpec>, functions: readonly SlotFunction[], provenance = false): HookPoint {
  const host = { provenance: new Provenance(), sweeper: new Sweeper(() => performance.now()) };
  const hook = new HookPoint({ name: 'bench.hook', kind: 'series', mode: 'async', onFault: 'skip', deadline: 5_000, ...spec }, host, () => []);
  functions.forEach((fn, index) => {
    const owner: SlotOwner = { id: `p${index}`, tier: 'global', log: silent };
    const slot = new Slot(owner, 'hook bench.hook', observer, fn);
    slot.async ||= provenance;
    hook.tap(slot, {}, 0);
  });
  return hook;
}

/** Median over samples of nanoseconds per call. */
async function perCall(calls: number, run: (calls: number) => unknown): Promise<number> {
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const start = process.hrtime.bigint();
    await run(calls);
    times.push(Number(process.hrtime.bigint() - start) / calls);
  }
  return times.sort((a, b) => a - b)[samples >> 1] ?? 0;
}

export async function hookRows(): Promise<Row[]> {
  const payload = { n: 1 };
  const sync = handlers((index) => `function tap${index}(payload) { globalThis.sum = payload.n + ${index}; }`);
  const asyncTaps = handlers((index) => `async function tap${index}(payload) { globalThis.sum = payload.n + ${index}; }`);
  const loop = (calls: number, call: () => unknown) => {
    for (let i = 0; i < calls; i += 1) call();
  };
  const awaiting = async (calls: number, call: () => unknown) => {
    for (let i = 0; i < calls; i += 1) await call();
  };

  const bareSync = new tapable.SyncHook<[unknown]>(['payload']);
  for (const fn of sync) bareSync.tap('bare', fn as never);
  const bareAsync = new tapable.AsyncSeriesHook<[unknown]>(['payload']);
  for (const fn of asyncTaps) bareAsync.tapPromise('bare', fn as never);

  const guardedSync = point({ mode: 'sync' }, sync);
  const guardedMixed = point({}, sync);
  const guardedAsync = point({}, asyncTaps);

  const bareSyncNs = await perCall(50_000, (n) => loop(n, () => bareSync.call(payload)));
  const guardedSyncNs = await perCall(50_000, (n) => loop(n, () => guardedSync.call(payload)));
  const mixedNs = await perCall(20_000, (n) => awaiting(n, () => guardedMixed.call(payload)));
  const bareAsyncNs = await perCall(5_000, (n) => awaiting(n, () => bareAsync.promise(payload)));
  const guardedAsyncNs = await perCall(5_000, (n) => awaiting(n, () => guardedAsync.call(payload)));
  const nothing = point({ kind: 'waterfall' }, []);
  const plain = { tapped: false, call: (value: unknown) => value };
  const plainNs = await perCall(500_000, (n) => loop(n, () => plain.call(payload)));
  const emptyNs = (await perCall(500_000, (n) => loop(n, () => nothing.call(payload)))) - plainNs;

  // As in the command: somebody listens for Ctrl-C, and the watchdog is at work.
  const listener = (): void => undefined;
  noteSigintHandle(() => process.on('SIGINT', listener));
  const watchdog = new Watchdog({ records: tmpdir() });
  watchdog.over({ path: '/nowhere', id: 'bench' });
  const entryNs = await perCall(400, (n) => loop(n, () => watchdog.interrupter.run(() => 1)));
  watchdog.dispose();
  process.off('SIGINT', listener);

  const perTap = (ns: number) => ns / taps;
  return [
    { what: 'guarded sync tap over bare tapable, 20 taps', value: perTap(guardedSyncNs - bareSyncNs), unit: 'ns/tap', budget: 15 },
    { what: 'async hook, sync taps, 20 taps', value: perTap(mixedNs), unit: 'ns/tap', budget: 30 },
    { what: 'async tap over bare tapable, hard deadline and provenance', value: perTap(guardedAsyncNs - bareAsyncNs), unit: 'ns/tap', budget: 400 },
    { what: 'a hard entry: one stretch of calls that can be interrupted', value: entryNs / 1_000, unit: 'µs', budget: 80 },
    { what: 'hook point without taps over a plain call', value: emptyNs, unit: 'ns/call', budget: 5 },
  ];
}
