/** `p.state`: a small JSON file, read on first use and replaced whole on each change. */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { writeAtomic } from './atomic-write.ts';
import { OperationalError } from './heal/fault.ts';
import { freezeJson, type Json } from './json.ts';
import type { Logger } from './log.ts';
import type { PluginState } from './plugin.ts';

export function createState(file: string, log: Logger): PluginState {
  let values: Map<string, Json> | undefined;
  const load = (): Map<string, Json> => (values ??= readState(file, log));
  const save = (): void => {
    try {
      writeAtomic(file, JSON.stringify(Object.fromEntries(load())));
    } catch (error) {
      throw new OperationalError(`the plugin's state: ${(error as Error).message}`, {}, { cause: error });
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

/** @throws OperationalError when it cannot be told what is in it: it would be lost with the next change */
function readState(file: string, log: Logger): Map<string, Json> {
  try {
    const text = readFileSync(file, 'utf8');
    const values = parse(text);
    if (values) return values;
    const aside = free(`${file}.corrupt`);
    renameSync(file, aside);
    log.warn(`its state was damaged and begins anew; what was there is in ${aside}`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new OperationalError(`the plugin's state cannot be read: ${message}`, { code }, { cause: error });
  }
  return new Map();
}

function parse(text: string): Map<string, Json> | undefined {
  try {
    const stored = JSON.parse(text) as Json | Record<string, Json>;
    return typeof stored === 'object' && stored !== null && !Array.isArray(stored) ? new Map(Object.entries(stored as Record<string, Json>)) : undefined;
  } catch {
    return undefined;
  }
}

/** An earlier one is kept as well. */
function free(name: string): string {
  for (let n = 1; ; n += 1) {
    const path = n === 1 ? name : `${name}.${n}`;
    if (!existsSync(path)) return path;
  }
}
