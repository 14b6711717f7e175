/** Plugin code that comes back: an endless loop ends in an error instead of the test run. */
import { Script } from 'node:vm';
import { KernelError, type PluginContext, type PluginDefinition } from '../public.ts';

type Fn = (this: unknown, ...args: unknown[]) => unknown;

const key = Symbol.for('newt.testing.bounded');
const script = new Script(`globalThis[Symbol.for(${JSON.stringify(Symbol.keyFor(key))})]()`);
/** Milliseconds a synchronous stretch may take. Far more than the deadline of a call: a busy machine is no endless loop. */
const patience = 1_500;

/**
 * Runs `work`, which may be stopped. What runs after an `await` cannot be: there only the process can be ended.
 * @throws KernelError `HANG`
 */
export function bounded<T>(work: () => T): T {
  const outer: unknown = Reflect.get(globalThis, key);
  Reflect.set(globalThis, key, work);
  try {
    return script.runInThisContext({ timeout: patience }) as T;
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new KernelError('HANG', { seconds: patience / 1_000 });
    throw error;
  } finally {
    Reflect.set(globalThis, key, outer);
  }
}

/** Hears of everything the plugin throws or rejects with, on its way to the kernel. */
export type ErrorListener = (error: unknown) => void;

function boundedFn(fn: Fn, heard: ErrorListener): Fn {
  return function (this: unknown, ...args) {
    try {
      const answer = bounded(() => fn.apply(this, args));
      if (answer instanceof Promise) answer.catch(heard);
      return answer;
    } catch (error) {
      heard(error);
      throw error;
    }
  };
}

/** Where a plugin registers after its setup it is bounded too. */
function boundedContext(p: PluginContext, heard: ErrorListener): PluginContext {
  return {
    ...p,
    tap: (hook, tap) => p.tap(hook, boundedTap(tap, heard) as typeof tap),
    contribute: (point, name, item) => p.contribute(point, name, boundedItem(item, heard) as typeof item),
  };
}

/** The setup, and what it returns, bounded. @param change what the plugin gets as its context */
export function boundedDefinition(definition: PluginDefinition, change: (p: PluginContext) => PluginContext, heard: ErrorListener): PluginDefinition {
  const boundedSetup = boundedFn(definition.setup as Fn, heard);
  const setup = async (p: PluginContext): Promise<unknown> => {
    const returned: unknown = await boundedSetup(change(boundedContext(p, heard)));
    if (typeof returned !== 'object' || returned === null || Array.isArray(returned)) return returned;
    return Object.fromEntries(
      Object.entries(returned as Record<string, unknown>).map(([point, items]) => [point, mapped(items, (item) => (point === 'hooks' ? boundedTap : boundedItem)(item, heard))]),
    );
  };
  const copy = Object.create(Object.getPrototypeOf(definition) as object, Object.getOwnPropertyDescriptors(definition)) as PluginDefinition;
  return Object.defineProperty(copy, 'setup', { value: setup });
}

function mapped(items: unknown, change: (item: unknown) => unknown): unknown {
  return typeof items === 'object' && items !== null ? Object.fromEntries(Object.entries(items).map(([name, item]) => [name, change(item)])) : items;
}

function boundedTap(tap: unknown, heard: ErrorListener): unknown {
  if (typeof tap === 'function') return boundedFn(tap as Fn, heard);
  const { run, ...order } = (tap ?? {}) as { readonly run?: unknown };
  return typeof run === 'function' ? { ...order, run: boundedFn(run as Fn, heard) } : tap;
}

/** The item with its functions bounded; what lies on its class too. */
function boundedItem(item: unknown, heard: ErrorListener): unknown {
  if (typeof item !== 'object' || item === null) return item;
  const copy = Object.create(item) as object;
  for (let level: object | null = item; level !== null && level !== Object.prototype; level = Object.getPrototypeOf(level) as object | null) {
    for (const name of Object.getOwnPropertyNames(level)) {
      const fn: unknown = Reflect.get(item, name);
      if (name === 'constructor' || typeof fn !== 'function' || Object.hasOwn(copy, name)) continue;
      Object.defineProperty(copy, name, { value: boundedFn((fn as Fn).bind(item), heard), enumerable: true });
    }
  }
  return copy;
}
