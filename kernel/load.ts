/** Loading: from a module file to the plugin definition it exports. */
import { createRequire } from 'node:module';
import { basename, dirname, sep } from 'node:path';
import type { Jiti, JitiOptions } from 'jiti';
import { KernelError } from './errors.ts';
import { stackOf } from './heal/fault.ts';
import { explainLoad } from './heal/load-fault.ts';
import { TranspiledSources } from './lazy/transpiled.ts';
import { asCommonJs, warmModule } from './lazy/warm-module.ts';
import type { PluginRecord } from './lifecycle.ts';
import { isPluginDefinition, type PluginDefinition } from './plugin.ts';
import { checkConfined } from './trust/confine.ts';

export interface LoaderOptions {
  /** Private folder for transpiled sources. */
  readonly cache: string;
  /** Modules that plugins get from the running host instead of a copy of their own, by specifier. */
  readonly virtualModules: () => Promise<Readonly<Record<string, unknown>>>;
}

/** Runs code of a plugin so that it is interrupted when it does not come back. */
type Interruptible = <T>(record: PluginRecord, fn: () => T) => T;

export type Loader = (record: PluginRecord) => Promise<PluginDefinition>;

/** jiti is imported with the first plugin that needs it: neither an agent without plugins nor a warm start pays for it. */
export function createLoader(options: LoaderOptions, interruptible: Interruptible = (_, fn) => fn()): Loader {
  const sources = new TranspiledSources(options.cache);
  // What is confined has an instance of its own.
  const instances = new Map<string | undefined, Promise<Jiti>>();
  // Two imports of one file at once would evaluate it twice.
  const loading = new Map<string, Promise<unknown>>();
  const shared = new Map<string, object>();
  const common = new Map<string, { exports: object }>();
  let hosts: Promise<unknown> | undefined;
  const loadHosts = async (): Promise<void> => {
    for (const [specifier, namespace] of Object.entries(await options.virtualModules())) shared.set(specifier, asCommonJs(namespace as object));
  };

  const instanceFor = (confine: string | undefined): Promise<Jiti> => {
    const made = instances.get(confine) ?? createInstance(options, sources, confine);
    instances.set(confine, made);
    return made;
  };
  const importModule = async (record: PluginRecord): Promise<unknown> => {
    const { entry, confine } = record.candidate;
    await (hosts ??= loadHosts());
    const warm = warmModule(entry, sources, (specifier) => shared.get(specifier), (file) => confine !== undefined && checkConfined(confine, file), common);
    if (warm) return interruptible(record, warm);
    const instance = await instanceFor(confine);
    // A module that failed half way must not be found half made by the next attempt.
    const folder = dirname(entry) + sep;
    for (const key of Object.keys(instance.cache)) if (key === entry || key.startsWith(folder)) delete instance.cache[key];
    try {
      // The synchronous form also transpiles .mjs and .js, so that a failed import is not cached for ever
      // as Node's own is. It cannot take top-level await.
      return interruptible(record, () => instance(entry) as unknown);
    } catch (error) {
      // V8 has many words for an await it did not expect. What does not compile has its place in front of
      // its name; a SyntaxError the plugin itself threw (of JSON.parse, say) has not, and must not run twice.
      const isAwait = error instanceof SyntaxError ? !stackOf(error).startsWith('SyntaxError') : error instanceof ReferenceError && error.message === 'await is not defined';
      if (isAwait) return instance.import(entry);
      throw error;
    }
  };

  return async (record) => {
    const { candidate } = record;
    if (candidate.load) return (await candidate.load()).default;
    const running = loading.get(candidate.entry) ?? importModule(record);
    loading.set(candidate.entry, running);
    try {
      return definitionOf(await running, candidate.entry);
    } catch (error) {
      throw explainLoad(error, candidate.entry);
    } finally {
      loading.delete(candidate.entry);
    }
  };
}

/**
 * jiti resolves and evaluates most modules by itself: whatever of a confined plugin it is about to transpile is looked
 * at here, and what it hands to Node in `confine.ts`.
 */
async function createInstance({ virtualModules }: LoaderOptions, sources: TranspiledSources, confine: string | undefined): Promise<Jiti> {
  const [{ createJiti }, modules] = await Promise.all([import('jiti'), virtualModules()]);
  const transpile = createRequire(createRequire(import.meta.url).resolve('jiti'))('../dist/babel.cjs') as NonNullable<JitiOptions['transform']>;
  return createJiti(import.meta.url, {
    // With interop, `import path from 'node:path'` and default imports of CommonJS packages mean what they mean to Node.
    virtualModules: modules,
    interopDefault: true,
    fsCache: false,
    transform: (given) => {
      const { filename = '', source, async } = given;
      if (confine !== undefined) checkConfined(confine, filename);
      const kept = async ? undefined : sources.find(filename, source);
      if (kept !== undefined) return { code: kept };
      const made = transpile(given);
      if (!async && made.error === undefined) sources.keep(filename, source, made.code);
      return made;
    },
  });
}

function definitionOf(module: unknown, entry: string): PluginDefinition {
  const exported: unknown = typeof module === 'object' && module !== null && 'default' in module ? module.default : module;
  if (isPluginDefinition(exported)) return exported;
  throw new KernelError('NO_DEFAULT', { file: basename(entry) });
}
