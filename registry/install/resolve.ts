/** From declared dependencies to exact packages and places: npm's own resolver, fed by our packuments and nothing else. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOperational, oneLine } from 'newt-agent';
import { refused } from '../report.ts';
import type { Packuments } from './packuments.ts';

export interface Declared {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: unknown;
}

export interface ResolvedPackage {
  /** `node_modules/a` or `node_modules/a/node_modules/b`. */
  readonly place: string;
  readonly name: string;
  readonly version: string;
  /** The packages it needs are left out with it where it does not fit this machine. */
  readonly optional: boolean;
}

/** Times that young versions are let in one by one, before it is given up. */
const maxRounds = 60;

/** What the resolver and pacote ask for packuments: only ours are used, so nothing else goes over the network. */
function asPackumentCache(packuments: Packuments): object {
  const nameOf = (key: string): string => decodeURIComponent(/\/((?:@[^/]+(?:%2f|\/))?[^/]+)$/i.exec(key)?.[1] ?? '');
  return { has: () => true, get: (key: string) => packuments.packument(nameOf(key)), set: () => undefined, delete: () => false };
}

const isTooYoung = (error: unknown): string | undefined => {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return code === 'ETARGET' && typeof name === 'string' ? name : undefined;
};

/** Runs `attempt`; where it finds nothing because all that fits is too young, lets that package be seen whole. */
async function seeing<T>(packuments: Packuments, attempt: () => Promise<T>): Promise<T> {
  for (let round = 0; ; round += 1) {
    try {
      return await attempt();
    } catch (error) {
      const name = isTooYoung(error);
      if (name === undefined || round >= maxRounds || !(await packuments.unveil(name))) throw explain(error);
    }
  }
}

/** The highest version of `name` in `range` that is old enough, else the highest there is. */
export async function pickVersion(name: string, range: string, packuments: Packuments): Promise<string> {
  const { manifest } = await import('pacote').then((module) => module.default);
  const { version } = await seeing(packuments, () => manifest(`${name}@${range}`, { packumentCache: asPackumentCache(packuments), fullMetadata: true } as object));
  return version;
}

/** npm's own default registry. */
export async function usualRegistry(): Promise<string> {
  const pacote = (await import('pacote')).default as unknown as { RegistryFetcher: new (spec: string, options: object) => { registry: string } };
  return new pacote.RegistryFetcher('x@*', {}).registry;
}

/** `hoisted`: as flat as may be; `nested`: everything below the package that needs it. */
export type Layout = 'hoisted' | 'nested';

/**
 * Exact packages for what is declared; none where nothing is. No scripts, no addresses, no files, no other names.
 *
 * @throws OperationalError that names the package at fault; the reason of `signal`
 */
export async function resolveTree(declared: Declared, packuments: Packuments, signal: AbortSignal, layout: Layout = 'hoisted'): Promise<ResolvedPackage[]> {
  if ([declared.dependencies, declared.optionalDependencies, declared.peerDependencies].every((all) => Object.keys(all).length === 0)) return [];
  const { default: Arborist } = await import('@npmcli/arborist');
  const folder = mkdtempSync(join(tmpdir(), 'agent-plan-'));
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...declared }));
    const build = () => {
      signal.throwIfAborted();
      const options = {
        path: folder, cache: join(folder, 'cache'), packumentCache: asPackumentCache(packuments), ignoreScripts: true, audit: false, fund: false, save: false, offline: true, fetchRetries: 0,
        allowGit: 'none', allowRemote: 'none', allowFile: 'none', allowDirectory: 'none', omit: ['dev'], installStrategy: layout,
      };
      return new Arborist(options as object).buildIdealTree();
    };
    const tree = await withSignal(seeing(packuments, build), signal);
    return [...tree.inventory.values()].flatMap((node) => {
      const { inert } = node as { inert?: boolean };
      if (node.isRoot || inert) return [];
      const name = node.package.name ?? node.name;
      if (node.isLink || name !== node.name) throw refused(`${node.name} stands for something else (${name})`, 'a dependency under another name is never installed');
      return [{ place: node.location.replaceAll('\\', '/'), name, version: node.version ?? '', optional: node.optional }];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The library cannot be stopped; nobody waits for it. */
function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function explain(error: unknown): unknown {
  if (isOperational(error) || !(error instanceof Error) || error.name === 'AbortError') return error;
  const { code = '', message, package: spec, name, wanted, requiredBy } = error as NodeJS.ErrnoException & { package?: string; wanted?: string; requiredBy?: string };
  const by = requiredBy && requiredBy !== '.' ? ` (needed by ${requiredBy})` : '';
  if (code.startsWith('EALLOW')) return refused(`the dependency ${spec ?? ''}${by} is ${code === 'EALLOWGIT' ? 'a git address' : code === 'EALLOWREMOTE' ? 'a URL' : 'a file'}`, 'only packages of the registry are installed; tell the author of the plugin');
  if (code === 'ETARGET') return refused(`there is no version of ${name} that fits "${wanted ?? ''}"${by}`, 'give another range, or none');
  if (code === 'ERESOLVE') return refused(`its dependencies do not fit together: ${message.split('\n', 1)[0] ?? ''}`, 'tell the author of the plugin');
  if (code === 'EBADPLATFORM') return refused(`it does not run on this machine: ${message}`);
  // The resolver has many words for what it cannot do; whichever it was, the packages are the reason.
  return refused(`what it needs cannot be worked out: ${oneLine(message, 300)}`, 'tell the author of the plugin');
}
