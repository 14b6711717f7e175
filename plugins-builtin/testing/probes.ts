/** What each part of a plugin is asked in chaos. */
import { type Command, checkInput, type Item, type Json, type Tool, z } from '../public.ts';
import { bounded } from './bounded.ts';
import type { ChaosStage } from './chaos-stage.ts';
import { fitting, odd } from './payloads.ts';
import { randomInput, type Schema, texts } from './random-input.ts';
import { capturingIO } from './run-command.ts';

export interface Probe {
  /** In words: `given {"name":""}`. */
  readonly what: string;
  /** Whether it is what the agent may ask: then an exception is a problem. Of anything else only the end is waited for. */
  readonly fits: boolean;
  call(signal: AbortSignal): unknown;
}

/** A part of a plugin that can be called. */
export interface Callable {
  readonly name: string;
  readonly probes: readonly Probe[];
  /** What could not be tried, once the probes ran. */
  remark?(): string | undefined;
}

export interface ProbeOptions {
  readonly random: () => number;
  /** Random inputs for each tool. */
  readonly runs: number;
  /** Inputs of tools that the author wrote, by the tool's name. */
  readonly inputs: Readonly<Record<string, readonly unknown[]>>;
}

const maxShown = 120;

export function callablesOf(stage: ChaosStage, options: ProbeOptions): { readonly callables: Callable[]; readonly remarks: string[] } {
  const remarks: string[] = [];
  const contributed = [...new Set(stage.info().contributes)];
  const callables = contributed.flatMap((part): Callable[] => {
    if (part.startsWith('hook ')) return [{ name: part, probes: hookProbes(stage, part.slice('hook '.length)) }];
    const [point = '', ...rest] = part.split('/');
    const name = rest.join('/');
    if (point === 'tools') return [toolCallable(stage, name, options)];
    if (point === 'commands') return [{ name: part, probes: commandProbes(stage, name, options) }];
    if (point === 'providers') return [{ name: part, probes: providerProbes(stage, name) }];
    if (point === 'checks') return [{ name: part, probes: [{ what: 'asked about a folder', fits: true, call: (signal) => itemOf(stage, point, name)['run']?.({ cwd: stage.workspace }, { signal }) }] }];
    if (point === 'channels') {
      remarks.push(`${part} was not run: a channel serves until it is told to end`);
      return [];
    }
    return [{ name: part, probes: otherProbes(stage, point, name) }];
  });
  return { callables: callables.filter(({ probes }) => probes.length > 0), remarks };
}

type Members = Readonly<Record<string, ((input: unknown, context?: object) => Promise<unknown>) | undefined>>;

/** Looked up at each call: a plugin that was started again has new ones. */
function itemOf(stage: ChaosStage, point: string, name: string): Members {
  const found = stage.kernel.items(point).get(name) as Item<unknown> | undefined;
  return (found?.item ?? {}) as Members;
}

function hookProbes({ kernel }: ChaosStage, hook: string): Probe[] {
  const probe = (fits: boolean) => ({ what, payload }: { what: string; payload: Json }): Probe => ({ what: `given ${what}`, fits, call: (signal) => kernel.call(hook, structuredClone(payload), signal) });
  return [...fitting(hook).map(probe(true)), ...odd.map(({ what, payload }) => probe(false)({ what: `a payload that is ${what}`, payload }))];
}

function toolCallable(stage: ChaosStage, name: string, { random, runs, inputs }: ProbeOptions): Callable {
  let tried = 0;
  const memory = new Map<string, unknown>();
  const context = (signal: AbortSignal): object => ({
    signal,
    id: 'call-1',
    session: { id: 'session-1', cwd: stage.workspace, memory, spillFolder: stage.workspace },
    resolve: async (path: string) => resolveInside(stage.workspace, path),
    output: () => undefined,
  });
  const run = async (input: unknown, signal: AbortSignal): Promise<void> => {
    const item = itemOf(stage, 'tools', name);
    const checked = await bounded(() => checkInput(item as never, input));
    if (!checked.ok) return;
    tried += 1;
    await item['touches']?.(checked.input, context(signal));
    await item['preview']?.(checked.input, context(signal));
    await item['run']?.(checked.input, context(signal));
  };
  const given = (input: unknown): Probe => ({ what: `given ${shown(input)}`, fits: true, call: (signal) => run(input, signal) });
  const schema = schemaOf(itemOf(stage, 'tools', name) as unknown as Tool);
  const made = schema ? Array.from({ length: runs }, () => randomInput(schema, random)) : [];
  return {
    name: `tools/${name}`,
    // Inputs that do not fit are refused by the schema, whose own code must not fail either.
    probes: [...(inputs[name] ?? []), ...made, ...odd.map(({ payload }) => payload), { strange: 1 }].map(given),
    remark: () => (tried > 0 ? undefined : `tools/${name} was never run: no random input fits its schema. Give some: chaos(plugin, { inputs: { ${name}: [{ … }] } })`),
  };
}

function schemaOf(tool: Tool): Schema | undefined {
  try {
    return z.toJSONSchema(tool.input, { io: 'input', unrepresentable: 'any' }) as Schema;
  } catch {
    return undefined; // a schema that JSON Schema has no words for
  }
}

async function resolveInside(workspace: string, path: string): Promise<string> {
  // Where a path leads does not matter here: the loop's own rules are not what is tested.
  return `${workspace}/${path.replace(/[^\w.-]+/g, '_').slice(0, 60) || 'file'}`;
}

function commandProbes(stage: ChaosStage, name: string, { random }: ProbeOptions): Probe[] {
  const command = itemOf(stage, 'commands', name) as unknown as Command;
  if (!command.run) return [];
  const word = (): string => texts[Math.floor(random() * (texts.length - 1))] ?? '';
  const value = (variadic = false): string | string[] => (variadic ? [word(), word()] : word());
  const longName = (flags: string): string => (/--([\w-]+)/.exec(flags)?.[1] ?? '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const invocation = (all: boolean, first?: string): object => ({
    arguments: Object.fromEntries((command.arguments ?? []).flatMap((one) => (one.required || all ? [[one.name, first === undefined ? value(one.variadic) : one.variadic ? [first] : first]] : []))),
    options: all ? Object.fromEntries((command.options ?? []).map(({ flags }) => [longName(flags), flags.includes('<') ? word() : true])) : {},
  });
  const probe = (input: object, confirm: boolean | undefined): Probe => ({
    what: `given ${shown(input)}${confirm === undefined ? '' : `, the person saying ${confirm ? 'yes' : 'no'}`}`,
    fits: true,
    call: (signal) => itemOf(stage, 'commands', name)['run']?.(input, { signal, io: capturingIO({ ...(confirm !== undefined && { confirm }) }, { out: [], err: [], questions: [] }) }),
  });
  return [probe(invocation(false, 'Ada'), undefined), probe(invocation(true, 'Ada'), true), probe(invocation(false), false), ...Array.from({ length: 6 }, () => probe(invocation(true), true))];
}

function providerProbes(stage: ChaosStage, name: string): Probe[] {
  const ask = async (id: string, signal: AbortSignal): Promise<void> => {
    const model = (await itemOf(stage, 'providers', name)['model']?.(id)) as { doStream(options: object, context?: object): Promise<{ stream: ReadableStream }> } | undefined;
    const answer = await model?.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }], abortSignal: signal }, { signal });
    for await (const _ of (answer?.stream ?? []) as AsyncIterable<unknown>) continue;
  };
  return ['test', '', 'x'.repeat(300)].map((id) => ({ what: `asked for the model ${shown(id)}`, fits: true, call: (signal) => ask(id, signal) }));
}

/** Of points that plugins define nobody knows what they take. */
function otherProbes(stage: ChaosStage, point: string, name: string): Probe[] {
  const members = Object.entries(itemOf(stage, point, name)).filter(([, member]) => typeof member === 'function');
  return members.flatMap(([member]) => odd.map(({ what, payload }) => ({ what: `its ${member} given ${what}`, fits: false, call: (signal: AbortSignal) => itemOf(stage, point, name)[member]?.(payload, { signal }) })));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}
