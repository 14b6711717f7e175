/** A kernel for chaos: one plugin, the agent's words with short deadlines, and the weather. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtin } from '../../kernel/discover.ts';
import { createKernel, type Kernel } from '../../kernel/kernel.ts';
import { complete } from '../../kernel/manifest.ts';
import { homePaths } from '../../kernel/paths.ts';
import { manifest as agent } from '../agent/manifest.ts';
import { definePlugin, disposable, type Fault, type HookSpec, type Json, type MemberSpec, type PluginDefinition, type PluginInfo, type PointSpec } from '../public.ts';
import { boundedDefinition } from './bounded.ts';
import { candidateOf, type GivenPlugin } from './given-plugin.ts';
import { type Sky, weatherContext } from './weather.ts';

export interface StageOptions {
  readonly root: string;
  readonly version: string;
  /** The plugin's part of the configuration. */
  readonly config: Json | undefined;
  /** Milliseconds a call may take. */
  readonly deadline: number;
}

export interface ChaosStage {
  readonly kernel: Kernel;
  readonly sky: Sky;
  readonly workspace: string;
  /** Turns of `p.every` that the plugin waits for. */
  readonly turns: ReadonlySet<() => unknown>;
  /** What the kernel told since it was last asked, in order. */
  takeFaults(): readonly Fault[];
  /** What the plugin itself threw last. */
  lastError(): unknown;
  /** The plugin as the kernel has it. */
  info(): PluginInfo;
  dispose(): Promise<void>;
}

export function temporaryRoot(): { readonly root: string; remove(): void } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-chaos-')));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** @param isReal whether the timers of `p.every` are those of the machine */
export async function openStage(given: GivenPlugin, { root, version, config, deadline }: StageOptions, weather: Sky['weather'] = 'calm', isReal = false): Promise<ChaosStage> {
  const workspace = join(root, 'workspace');
  mkdirSync(workspace, { recursive: true });
  const sky: Sky = { weather, uses: 0 };
  const turns = new Set<() => unknown>();
  const faults: Fault[] = [];
  let last: unknown;
  const wrap = (definition: PluginDefinition, capabilities: readonly string[]): PluginDefinition => {
    const short = { ...definition.static, ...(definition.static.defines && { defines: shortened(definition.static.defines, deadline) }) };
    const copy = definePlugin(short as never, definition.setup as never) as PluginDefinition;
    return boundedDefinition(copy, (p) =>
      weatherContext(p, capabilities, sky, workspace, (ms, turn) => {
        if (isReal) return p.every(ms, turn);
        turns.add(turn);
        return p.own(disposable(() => void turns.delete(turn)));
      }),
      (error) => (last = error),
    );
  };
  const plugin = candidateOf(given, root, wrap);
  const words = definePlugin({ id: 'words' }, () => ({}));
  // A home of its own: what a plugin did on another stage is not remembered on this one.
  const kernel = createKernel({
    version,
    paths: homePaths({ AGENT_HOME: mkdtempSync(join(root, 'home-')) }),
    candidates: [builtin(complete(words.static, 'words'), async () => ({ default: words }), shortened(agent.defines, deadline)), plugin],
    configOf: ({ tier }) => (tier === 'builtin' ? {} : (config ?? {})),
    env: { PATH: process.env['PATH'], HOME: root, LANG: 'C.UTF-8' },
  });
  kernel.onFault((fault) => faults.push(fault));
  await kernel.start();
  return {
    kernel,
    sky,
    workspace,
    turns,
    takeFaults: () => faults.splice(0),
    lastError: () => last,
    info: () => kernel.plugins().find(({ tier }) => tier !== 'builtin') as PluginInfo,
    dispose: () => kernel.dispose(),
  };
}

type Defines = NonNullable<PluginDefinition['static']['defines']>;

function shortened({ hooks = [], points = [] }: { readonly hooks?: readonly unknown[]; readonly points?: readonly unknown[] }, deadline: number): Defines {
  return {
    hooks: (hooks as readonly HookSpec[]).map((hook) => ({ ...hook, deadline: Math.min(hook.deadline, deadline) })),
    points: (points as readonly PointSpec[]).map((point) => ({ ...point, members: shortMembers(point.members as Readonly<Record<string, MemberSpec>>, deadline) })) as never,
  };
}

/** Services end when they are told to, so for chaos they are calls. */
function shortMembers(members: Readonly<Record<string, MemberSpec>>, deadline: number): Readonly<Record<string, MemberSpec>> {
  return Object.fromEntries(
    Object.entries(members).map(([name, { late: _, first: __, ...spec }]) => [name, { ...spec, kind: spec.kind === 'service' ? 'call' : spec.kind, deadline, ...(spec.methods && { methods: shortMembers(spec.methods, deadline) }) } satisfies MemberSpec]),
  );
}
