/** A registry, and a place for the built command that installs from it. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { LockEntries } from '../../registry/lock.ts';
import { createPlace, type Finished, type Place, type RunOptions } from './agent-process.ts';
import { type NpmRegistry, startRegistry } from './npm-registry.ts';

export interface InstallPlace extends AsyncDisposable {
  readonly registry: NpmRegistry;
  readonly place: Place;
  /** `agent plugin <words>` */
  plugin(words: readonly string[], options?: RunOptions): Promise<Finished>;
  agent(words: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Changes keys of `install` in the configuration. */
  configure(settings: Readonly<Record<string, string | number>>): void;
  /** The lock file's text; '' where there is none. */
  lockText(): string;
  entries(): LockEntries;
  /** Files below the data folder, but for the journal and the lock file. */
  leftovers(): string[];
}

/** @param install further keys of `install` in the configuration */
export async function openInstallPlace(install: Readonly<Record<string, string | number>> = {}): Promise<InstallPlace> {
  const registry = await startRegistry();
  const usual = { registry: registry.url, timeout: 20, ...install };
  const text = (settings: Readonly<Record<string, string | number>>): string => `install: ${JSON.stringify({ ...usual, ...settings })}\n`;
  const place = createPlace(undefined, text({}));
  const data = join(place.home, 'data');
  const lock = join(data, 'agent-plugins.lock');
  const lockText = (): string => (existsSync(lock) ? readFileSync(lock, 'utf8') : '');
  return {
    registry,
    place,
    plugin: (words, options) => place.agent(['plugin', ...words], options),
    agent: (words, options) => place.agent(words, options),
    configure: (settings) => writeFileSync(join(place.home, 'config', 'config.yaml'), text(settings)),
    lockText,
    entries: () => (lockText() === '' ? {} : (JSON.parse(lockText()) as { plugins: LockEntries }).plugins),
    leftovers: () => (existsSync(data) ? readdirSync(data, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() && !['agent-plugins.lock', 'journal.jsonl'].includes(entry.name) ? [join(entry.parentPath, entry.name)] : [])) : []),
    async [Symbol.asyncDispose]() {
      await registry.close();
      place.remove();
    },
  };
}

/** It is not installed, whatever is accepted and said in advance, and leaves no file behind. */
export async function isRefused(at: InstallPlace, reason: RegExp, words: readonly string[], code = 2): Promise<void> {
  const done = await at.plugin([...words, '--yes', '--accept', 'scripts,young,size,count,name,native,provenance,capabilities']);
  expect(done.stderr).toMatch(reason);
  expect(done.stderr).not.toMatch(/threw|contained/);
  expect(done.code).toBe(code);
  expect(at.entries()).toEqual({});
  expect(at.leftovers()).toEqual([]);
}
