/** The world in chaos: what `p.exec`, `p.fetch`, `p.fs` and `p.state` do to a plugin that relies on them. */
import { isAbsolute, relative, resolve } from 'node:path';
import { type ExecOptions, KernelError, OperationalError, type PluginContext } from '../public.ts';

/**
 * - `calm`: everything answers, and nothing reaches the machine
 * - `throws`, `rejects`: everything fails, at once or a moment later
 * - `hangs`: programs and requests do not answer before the call is cancelled; files do, as they have no signal
 * - `junk`: everything answers what nobody expects
 */
export type Weather = 'calm' | 'throws' | 'rejects' | 'hangs' | 'junk';

export const badWeather: readonly Exclude<Weather, 'calm'>[] = ['throws', 'rejects', 'hangs', 'junk'];

/** What a person is told of the world in which something failed. */
export const weatherWords: Readonly<Record<Weather, string>> = {
  calm: '',
  throws: 'while p.exec, p.fetch, p.fs and p.state fail at once',
  rejects: 'while p.exec, p.fetch, p.fs and p.state fail',
  hangs: 'while p.exec and p.fetch do not answer and the call is cancelled',
  junk: 'while p.exec, p.fetch, p.fs and p.state answer junk',
};

export interface Sky {
  weather: Weather;
  /** How often the plugin asked the world for something. */
  uses: number;
}

const junk = '\u0000}{ <html>not what you expect';

/** `p` with the world of `sky`, as it is at each call. @param workspace the only folder where writing is real */
export function weatherContext(p: PluginContext, capabilities: readonly string[], sky: Sky, workspace: string, every: PluginContext['every']): PluginContext {
  const fail = (): never => {
    throw new OperationalError('the world is out of order (chaos)', { code: 'ECHAOS' });
  };
  /** `calm` is asked for its answer in good weather alone. */
  const ask = <T>(calm: () => Promise<T>, strange: () => T, signal?: AbortSignal | null | 'none'): Promise<T> => {
    sky.uses += 1;
    switch (sky.weather) {
      case 'throws':
        return fail();
      case 'rejects':
        return Promise.resolve().then(fail);
      case 'hangs':
        return signal === 'none' ? calm() : until(signal ?? undefined).then(fail);
      case 'junk':
        return Promise.resolve().then(strange);
      default:
        return calm();
    }
  };
  const state = <T>(calm: () => T, strange: T): T => {
    sky.uses += 1;
    return sky.weather === 'throws' || sky.weather === 'rejects' ? fail() : sky.weather === 'junk' ? strange : calm();
  };
  const isOwn = (path: string): boolean => {
    const way = relative(workspace, resolve(workspace, path));
    return !way.startsWith('..') && !isAbsolute(way);
  };
  // Elsewhere nothing is written, whatever a random path names.
  const write = (path: string, real: () => Promise<void>): Promise<void> => ask(() => (isAbsolute(path) && isOwn(path) ? real() : Promise.resolve()), () => undefined, 'none');
  const need = (capability: string, used: string): void => {
    if (!capabilities.includes(capability)) throw new KernelError('CAPABILITY', { plugin: p.id, used, capability });
  };
  const { fs } = p;
  return {
    ...p,
    every,
    exec: (_file, _args, options) => (need('exec', 'exec'), ask(async () => '', () => junk, limited(options))),
    fetch: async (_url, init) => (need('net', 'fetch'), ask(async () => Response.json({}), () => new Response(junk, { status: 500 }), init?.signal)),
    state: {
      get: (key) => state<never>(() => p.state.get(key) as never, { junk: [null] } as never),
      set: (key, value) => state(() => p.state.set(key, value), undefined),
      delete: (key) => state(() => p.state.delete(key), undefined),
    },
    fs: {
      read: (path) => ask(() => fs.read(path), () => junk, 'none'),
      readBytes: (path) => ask(() => fs.readBytes(path), () => new TextEncoder().encode(junk), 'none'),
      list: (path) => ask(() => fs.list(path), () => [junk, ''], 'none'),
      exists: (path) => ask(() => fs.exists(path), () => true, 'none'),
      write: async (path, data) => (need('fs:write', 'fs.write'), write(path, () => fs.write(path, data))),
      append: async (path, data) => (need('fs:write', 'fs.append'), write(path, () => fs.append(path, data))),
      remove: async (path) => (need('fs:write', 'fs.remove'), write(path, () => fs.remove(path))),
      makeDirectory: async (path) => (need('fs:write', 'fs.makeDirectory'), write(path, () => fs.makeDirectory(path))),
    },
  };
}

/** The signal of a program that also ends at its time limit. */
function limited({ signal, timeout }: ExecOptions = {}): AbortSignal | undefined {
  return timeout === undefined ? signal : AbortSignal.any([AbortSignal.timeout(timeout), ...(signal ? [signal] : [])]);
}

/** Settles when `signal` is aborted; without one it never does. */
function until(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}
