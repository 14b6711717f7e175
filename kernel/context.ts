/** `p`: what a plugin can do, within the capabilities it declared. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { shownAddress } from './address.ts';
import { KernelError } from './errors.ts';
import { OperationalError } from './fault.ts';
import { freezeJson, type Json } from './json.ts';
import type { PluginRecord } from './lifecycle.ts';
import type { ExecOptions, PluginContext, PluginFiles, PluginState } from './plugin.ts';
import { disposable } from './scope.ts';

/** The parts of the context that change the kernel; see `activate.ts`. */
export type Registrar = Pick<PluginContext, 'tap' | 'contribute' | 'provide' | 'use' | 'call' | 'items' | 'activate' | 'own'>;

export interface ContextHost {
  readonly now: () => number;
  readonly random: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** File of the plugin's own state. */
  readonly stateFile: string;
  /** Hears of what a timer of the plugin threw. */
  readonly stray: (error: unknown) => void;
}

const execTimeout = 60_000;
const maxOutput = 50_000_000;

export function createContext(record: PluginRecord, config: unknown, registrar: Registrar, host: ContextHost): PluginContext {
  const need = (capability: string, used: string): void => {
    if (!record.manifest.capabilities.includes(capability)) throw new KernelError('CAPABILITY', { plugin: record.id, used, capability });
  };
  return {
    ...registrar,
    id: record.id,
    config,
    log: record.log,
    state: createState(host.stateFile),
    exec(file, args = [], options = {}) {
      need('exec', 'exec');
      return run(file, args, options);
    },
    async fetch(url, init) {
      need('net', 'fetch');
      try {
        return await fetch(url, init);
      } catch (error) {
        if (init?.signal?.aborted) throw error;
        const { code, message } = ((error as Error).cause ?? error) as { code?: string; message?: string };
        const shown = shownAddress(String(url));
        throw new OperationalError(`could not reach ${shown}: ${message?.replaceAll(String(url), () => shown) || code || 'no answer'}`, { code }, { cause: error });
      }
    },
    fs: createFiles((used) => need('fs:write', used)),
    env(name) {
      need(`env:${name}`, 'env');
      return host.env[name];
    },
    now: host.now,
    random: host.random,
    every(ms, tick) {
      const timer = setInterval(() => {
        void (async () => tick())().catch(host.stray);
      }, ms);
      timer.unref();
      return registrar.own(disposable(() => clearInterval(timer)));
    },
  };
}

/** Runs a program without a shell; stdin is closed unless `input` is given. */
async function run(file: string, args: readonly string[], options: ExecOptions): Promise<string> {
  const { execa } = await import('execa');
  const result = await execa(file, args, {
    reject: false,
    stripFinalNewline: false,
    maxBuffer: maxOutput,
    timeout: options.timeout ?? execTimeout,
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.signal && { cancelSignal: options.signal }),
    ...(options.env && { env: options.env }),
  });
  if (!result.failed) return result.stdout;
  const details = { exitCode: result.exitCode, signal: result.signal, stdout: result.stdout, stderr: result.stderr };
  const what = result.exitCode === undefined ? result.shortMessage : `${file} ended with exit code ${result.exitCode}`;
  throw new OperationalError(`${what}${result.stderr ? `: ${result.stderr.trim().slice(0, 2_000)}` : ''}`, details);
}

function createFiles(needWrite: (used: string) => void): PluginFiles {
  const news = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw new OperationalError((error as Error).message, { code: (error as NodeJS.ErrnoException).code }, { cause: error });
    }
  };
  return {
    read: (path) => news(readFile(path, 'utf8')),
    readBytes: (path) => news(readFile(path)),
    list: async (path) => (await news(readdir(path))).sort(),
    exists: (path) => stat(path).then(() => true, () => false),
    write: async (path, data) => (needWrite('fs.write'), news(writeFile(path, data))),
    append: async (path, data) => (needWrite('fs.append'), news(appendFile(path, data))),
    remove: async (path) => (needWrite('fs.remove'), news(rm(path, { recursive: true }))),
    makeDirectory: async (path) => {
      needWrite('fs.makeDirectory');
      await news(mkdir(path, { recursive: true }));
    },
  };
}

/** A small JSON file, read on first use and replaced whole on each change. */
function createState(file: string): PluginState {
  let values: Map<string, Json> | undefined;
  const load = (): Map<string, Json> => {
    if (values) return values;
    try {
      values = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Json>));
    } catch {
      values = new Map(); // absent or damaged: a plugin must cope with a first run anyway
    }
    return values;
  };
  const save = (): void => {
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.${process.pid}`, JSON.stringify(Object.fromEntries(load())), { mode: 0o600 });
      renameSync(`${file}.${process.pid}`, file);
    } catch (error) {
      throw new OperationalError(`the plugin's state cannot be written: ${(error as Error).message}`, {}, { cause: error });
    }
  };
  return {
    get: <T extends Json>(key: string) => load().get(key) as T | undefined,
    set(key, value) {
      load().set(key, freezeJson(value));
      save();
    },
    delete(key) {
      if (load().delete(key)) save();
    },
  };
}
