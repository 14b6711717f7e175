/** Loading: from a module file to the plugin definition it exports. */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';
import type { Jiti, JitiOptions } from 'jiti';
import { KernelError } from './errors.ts';
import { stackOf } from './heal/fault.ts';
import { explainLoad } from './heal/load-fault.ts';
import type { PluginRecord } from './lifecycle.ts';
import { makeFolder } from './paths.ts';
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

/** jiti is imported with the first plugin that needs it: an agent without plugins does not pay for it. */
export function createLoader(options: LoaderOptions, interruptible: Interruptible = (_, fn) => fn()): Loader {
  // What is confined has an instance of its own, and shares no transpiled source with others.
  const instances = new Map<string | undefined, Promise<Jiti>>();
  // Two imports of one file at once would evaluate it twice.
  const loading = new Map<string, Promise<unknown>>();

  const instanceFor = (confine: string | undefined): Promise<Jiti> => {
    const made = instances.get(confine) ?? createInstance(options, confine);
    instances.set(confine, made);
    return made;
  };
  const importModule = async (record: PluginRecord): Promise<unknown> => {
    const { entry, confine } = record.candidate;
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

async function createInstance({ cache, virtualModules }: LoaderOptions, confine: string | undefined): Promise<Jiti> {
  const [{ createJiti }, modules] = await Promise.all([import('jiti'), virtualModules()]);
  // With interop, `import path from 'node:path'` and default imports of CommonJS packages mean what they mean to Node.
  const shared = { virtualModules: modules, interopDefault: true };
  if (confine === undefined) return createJiti(import.meta.url, { ...shared, fsCache: usable(cache) });
  // jiti resolves and evaluates most modules by itself: whatever it is about to transpile is looked at here,
  // and what it hands to Node in `confine.ts`. A cache of its own makes sure that nothing else is in it.
  const transpile = createRequire(createRequire(import.meta.url).resolve('jiti'))('../dist/babel.cjs') as NonNullable<JitiOptions['transform']>;
  return createJiti(import.meta.url, {
    ...shared,
    fsCache: usable(join(cache, createHash('sha256').update(confine).digest('hex').slice(0, 16))),
    transform: (source) => {
      checkConfined(confine, source.filename ?? '');
      return transpile(source);
    },
  });
}

/** The folder, if it can be made: jiti would try for ever where the system denies that the one above exists. */
function usable(cache: string): string | false {
  try {
    makeFolder(cache);
    return cache;
  } catch {
    return false; // without a cache it starts more slowly
  }
}

function definitionOf(module: unknown, entry: string): PluginDefinition {
  const exported: unknown = typeof module === 'object' && module !== null && 'default' in module ? module.default : module;
  if (isPluginDefinition(exported)) return exported;
  throw new KernelError('NO_DEFAULT', { file: basename(entry) });
}
