/** What a plugin did through `p`: noted for the test, and answered by it where it says so. */
import { type Disposable, type ExecOptions, isOperational, KernelError, type Logger, OperationalError, type PluginContext } from '../public.ts';

/** One thing a plugin did through its context, in the order it did them. */
export type Deed = { readonly plugin: string } & (
  | { readonly what: 'exec'; readonly file: string; readonly args: readonly string[]; readonly options: ExecOptions }
  | { readonly what: 'fetch'; readonly url: string; readonly method: string; readonly body: unknown }
  | { readonly what: 'fs'; readonly operation: 'write' | 'append' | 'remove' | 'makeDirectory'; readonly path: string; readonly data: string | Uint8Array | undefined }
  | { readonly what: 'state'; readonly operation: 'set' | 'delete'; readonly key: string; readonly value: unknown }
  | { readonly what: 'log'; readonly level: keyof Logger; readonly message: string }
);

export type DeedOf<What extends Deed['what']> = Extract<Deed, { readonly what: What }>;

/** The world as the test has it. What an answer throws reaches the plugin as an `OperationalError`. */
export interface World {
  /** Answers a program's standard output; `undefined` runs the real program. Default: all are real. */
  exec?(file: string, args: readonly string[], options: ExecOptions): string | undefined | Promise<string | undefined>;
  /** Answers a request; a string is the body of a 200. Default: every request is refused. */
  fetch?(url: string, init: RequestInit): Response | string | Promise<Response | string>;
  /** Runs a turn of `p.every` again and again. Default: the time of the machine. */
  every?(ms: number, turn: () => void | Promise<void>, failed: (error: unknown) => void): Disposable;
}

/**
 * `p` as the kernel made it, with every effect noted in `deeds` and answered by `world`.
 * @param capabilities what the plugin declared: an effect the test answers is refused as the kernel would refuse it
 */
export function notedContext(p: PluginContext, capabilities: readonly string[], world: World, deeds: Deed[]): PluginContext {
  const plugin = p.id;
  const need = (capability: string, used: string): void => {
    if (!capabilities.includes(capability)) throw new KernelError('CAPABILITY', { plugin, used, capability });
  };
  return {
    ...p,
    log: notedLog(p, deeds),
    state: {
      get: (key) => p.state.get(key),
      set(key, value) {
        deeds.push({ plugin, what: 'state', operation: 'set', key, value });
        p.state.set(key, value);
      },
      delete(key) {
        deeds.push({ plugin, what: 'state', operation: 'delete', key, value: undefined });
        p.state.delete(key);
      },
    },
    async exec(file, args = [], options = {}) {
      need('exec', 'exec');
      deeds.push({ plugin, what: 'exec', file, args, options });
      return (await asNews(async () => world.exec?.(file, args, options))) ?? p.exec(file, args, options);
    },
    async fetch(given, init = {}) {
      need('net', 'fetch');
      const url = String(given);
      deeds.push({ plugin, what: 'fetch', url, method: init.method ?? 'GET', body: init.body });
      const { fetch } = world;
      if (!fetch) throw new OperationalError(`the test makes no requests: answer ${url} with bootAgent({ fetch: (url) => … })`);
      const answer = await asNews(async () => fetch(url, init));
      return typeof answer === 'string' ? new Response(answer) : answer;
    },
    fs: notedFiles(p, deeds),
    every(ms, turn) {
      if (!world.every) return p.every(ms, turn);
      return p.own(world.every(ms, turn, (error) => throwInTimer(p, error)));
    },
  };
}

function notedLog({ id: plugin, log }: PluginContext, deeds: Deed[]): Logger {
  const note = (level: keyof Logger) => (message: string) => {
    deeds.push({ plugin, what: 'log', level, message });
    log[level](message);
  };
  return { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
}

function notedFiles({ id: plugin, fs }: PluginContext, deeds: Deed[]): PluginContext['fs'] {
  const note = (operation: DeedOf<'fs'>['operation'], path: string, data?: string | Uint8Array): void => void deeds.push({ plugin, what: 'fs', operation, path, data });
  return {
    ...fs,
    write: (path, data) => (note('write', path, data), fs.write(path, data)),
    append: (path, data) => (note('append', path, data), fs.append(path, data)),
    remove: (path) => (note('remove', path), fs.remove(path)),
    makeDirectory: (path) => (note('makeDirectory', path), fs.makeDirectory(path)),
  };
}

/** What goes wrong in the world is news to a plugin, whoever plays the world. */
async function asNews<T>(answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (isOperational(error)) throw error;
    throw new OperationalError((error as Error)?.message ?? String(error), {}, { cause: error });
  }
}

/** The kernel hears of it the way it hears of every timer of a plugin. */
function throwInTimer(p: PluginContext, error: unknown): void {
  const once = p.every(1, () => {
    void once.dispose();
    throw error;
  });
}
