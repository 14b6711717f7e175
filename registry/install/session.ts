/** What one installation works with: the registry as it is now, the cache, the person's limits. */
import { homeFolder, type PluginContext } from 'newt-agent';
import type { HomePaths } from '../../kernel/paths.ts';
import type { InstallSettings, RegistryConfig } from '../manifest.ts';
import { type DownloadCache, openCache } from './cache.ts';
import { Packuments } from './packuments.ts';
import { readRegistries, registryOf } from './registries.ts';
import { usualRegistry } from './resolve.ts';

export interface InstallSession {
  readonly settings: InstallSettings;
  readonly cache: DownloadCache;
  readonly packuments: Packuments;
  readonly registryOf: (name: string) => string;
  readonly offline: boolean;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Says what is being done, where a person watches. */
  readonly progress: (text: string | undefined) => void;
}

export interface SessionOptions {
  readonly offline: boolean;
  readonly signal: AbortSignal;
  readonly progress?: ((text: string | undefined) => void) | undefined;
  /** The age of a release is looked at; false where a lock states which one it is. */
  readonly looksAtAge?: boolean;
}

const dayMs = 86_400_000;

export async function openInstall(p: Pick<PluginContext<RegistryConfig>, 'config' | 'env' | 'now'>, paths: HomePaths, { offline, signal, progress, looksAtAge = true }: SessionOptions): Promise<InstallSession> {
  const settings = p.config.install;
  const registries = readRegistries([settings.registry, p.env('npm_config_registry'), p.env('NPM_CONFIG_REGISTRY')], homeFolder());
  const fallback = registries.usual ?? (await usualRegistry());
  const cache = openCache(paths);
  const of = (name: string): string => registryOf(name, registries, fallback);
  const now = p.now();
  const before = looksAtAge ? now - settings.min_age_days * dayMs : Infinity;
  const packuments = new Packuments({ registryOf: of, cache, offline, bounds: { timeout: settings.timeout, signal }, now, before });
  return { settings, cache, packuments, registryOf: of, offline, signal, now, progress: progress ?? (() => undefined) };
}
