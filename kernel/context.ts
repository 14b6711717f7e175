/** `p`: what a plugin can do, within the capabilities it declared. */
import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { KernelError } from './errors.ts';
import { programEnvironment, Programs } from './exec.ts';
import { OperationalError } from './heal/fault.ts';
import { fetchFor } from './fetch.ts';
import type { PluginRecord } from './lifecycle.ts';
import { makeFolder } from './paths.ts';
import type { PluginContext, PluginFiles } from './plugin.ts';
import { processGuardian } from './process-guardian.ts';
import { disposable } from './scope.ts';
import { createState } from './state.ts';

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

export function createContext(record: PluginRecord, config: unknown, registrar: Registrar, host: ContextHost): PluginContext {
  const need = (capability: string, used: string): void => {
    if (!record.manifest.capabilities.includes(capability)) throw new KernelError('CAPABILITY', { plugin: record.id, used, capability });
  };
  const guardian = () => registrar.activate('onProcess').then(() => registrar.use(processGuardian));
  const programs = registrar.own(new Programs(() => programEnvironment(host.env, record.manifest.capabilities), guardian));
  const life = new AbortController();
  registrar.own(disposable(() => life.abort()));
  return {
    ...registrar,
    id: record.id,
    config,
    log: record.log,
    state: createState(host.stateFile, record.log),
    exec(file, args = [], options = {}) {
      need('exec', 'exec');
      return programs.run(file, args, options);
    },
    async fetch(url, init) {
      need('net', 'fetch');
      return fetchFor(life.signal, url, init);
    },
    fs: createFiles((used) => need('fs:write', used)),
    env(name) {
      need(`env:${name}`, 'env');
      return host.env[name];
    },
    now: host.now,
    random: host.random,
    every(ms, tick) {
      let busy = false;
      const turn = async (): Promise<void> => {
        if (busy) return;
        busy = true;
        try {
          await tick();
        } catch (error) {
          host.stray(error);
        } finally {
          busy = false;
        }
      };
      const timer = setInterval(() => void turn(), ms);
      timer.unref();
      return registrar.own(disposable(() => clearInterval(timer)));
    },
  };
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
    makeDirectory: async (path) => (needWrite('fs.makeDirectory'), news((async () => makeFolder(path, 0o777))())),
  };
}
