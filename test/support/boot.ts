/** A kernel of its own for one test, with plugins that are written in the test. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fault } from '../../kernel/heal/fault.ts';
import type { AnyHook, HookSpec } from '../../kernel/hook-spec.ts';
import { createKernel, type Kernel, type KernelOptions } from '../../kernel/kernel.ts';
import type { Candidate, Manifest } from '../../kernel/lifecycle.ts';
import { complete } from '../../kernel/manifest.ts';
import { homePaths } from '../../kernel/paths.ts';
import { type Contributions, definePlugin, type PluginContext, type PluginStatic } from '../../kernel/plugin.ts';
import type { PluginInfo } from '../../kernel/control.ts';
import type { Tier } from '../../kernel/tier.ts';

/** A plugin whose code is in the test. Its hooks and points need not be in the merged maps. */
export interface Inline {
  readonly id: string;
  /** Default: `global`. */
  readonly tier?: Tier;
  readonly facts?: Partial<Manifest>;
  readonly defines?: PluginStatic['defines'];
  readonly config?: PluginStatic['config'];
  /** Stands for its source: what its health record is keyed by. */
  readonly source?: string;
  /** True when its facts are told by its code alone. */
  readonly bare?: boolean;
  readonly setup?: (p: PluginContext) => object | void | Promise<object | void>;
}

export interface Stage extends AsyncDisposable {
  readonly kernel: Kernel;
  readonly folder: string;
  /** What the kernel told, in order. */
  readonly faults: readonly Fault[];
  plugin(id: string): PluginInfo;
  /** Ends the kernel and keeps its folder, for a second one to find. */
  end(): Promise<void>;
}

export interface BootOptions extends Partial<KernelOptions> {
  /** Of an earlier stage, whose health it then knows. */
  readonly folder?: string;
}

export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'newt-stage-')));
}

export async function boot(plugins: readonly Inline[], { folder = temporaryFolder(), ...options }: BootOptions = {}): Promise<Stage> {
  const kernel = createKernel({
    version: '1.0.0',
    paths: homePaths({ AGENT_HOME: join(folder, 'home') }),
    candidates: plugins.map((plugin) => candidateOf(plugin, folder)),
    ...options,
  });
  const faults: Fault[] = [];
  kernel.onFault((fault) => faults.push(fault));
  await kernel.start();
  const end = () => kernel.dispose();
  return {
    kernel,
    folder,
    faults,
    end,
    plugin(id) {
      const found = kernel.plugins().find((one) => one.id === id);
      if (!found) throw new Error(`no plugin ${id}`);
      return found;
    },
    async [Symbol.asyncDispose]() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function candidateOf({ id, tier = 'global', facts = {}, defines, config, source = id, bare = false, setup = () => undefined }: Inline, folder: string): Candidate {
  const path = join(folder, 'plugins', id);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'index.js'), source);
  const stated = { id, ...facts, ...(defines && { defines }), ...(config && { config }) };
  const definition = definePlugin(stated as PluginStatic<never>, setup as () => Contributions);
  return { tier, path, entry: join(path, 'index.js'), manifest: { ...complete({}, id), ...(bare ? {} : facts) }, bare, load: async () => ({ default: definition }) };
}

/** A hook spec that is not in the merged map. */
export function hookSpec(spec: Pick<HookSpec, 'name' | 'kind'> & Partial<HookSpec>): HookSpec<AnyHook> {
  const gate = spec.kind === 'gate';
  return { mode: 'async', onFault: gate ? 'deny' : 'skip', deadline: 60, ...(gate && { fallback: { verdict: 'deny', reason: 'nobody allowed it' } }), ...spec };
}

/** Milliseconds since the call, whole. */
export function stopwatch(): () => number {
  const start = performance.now();
  return () => Math.round(performance.now() - start);
}

/**
 * What `work` comes to within 40 turns of a 25 ms timer: a second of the event loop's own time, however
 * busy the machine is with other things. The deadlines of the tests are 60 ms.
 */
export async function inTime<T>(work: () => T): Promise<Awaited<T>> {
  let over = false;
  const late = (async () => {
    for (let turn = 0; turn < 40 && !over; turn++) await sleep(25);
    if (!over) throw new Error('it was not over in time');
    return undefined as never;
  })();
  late.catch(() => undefined);
  try {
    return await Promise.race([(async () => work())(), late]);
  } finally {
    over = true;
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until `holds`, looking every 5 ms. */
export async function until(holds: () => boolean, limit = 10_000): Promise<void> {
  for (const time = stopwatch(); !holds(); await sleep(5)) if (time() > limit) throw new Error(`not within ${limit} ms: ${holds}`);
}
