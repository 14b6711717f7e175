/** Discovery: what lies in the folders of the tiers, before any of it runs. */
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, extname, join, resolve, sep } from 'node:path';
import { isKernelError, KernelError } from './errors.ts';
import { gatesOf } from './heal/damaged-guard.ts';
import { describeError } from './heal/fault.ts';
import { escapes, ImportScan } from './trust/imports.ts';
import type { Candidate, Manifest } from './lifecycle.ts';
import { complete, idPattern, readManifest } from './manifest.ts';
import type { Tier } from './tier.ts';

const moduleExtensions: readonly string[] = ['.ts', '.mts', '.js', '.mjs', '.cjs'];
const indexNames = moduleExtensions.map((extension) => `index${extension}`);

/** All plugins of one folder: bare module files, and folders with an index module or a manifest. */
export function discoverFolder(tier: Tier, folder: string, confine?: string): Candidate[] {
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    // No such folder: no plugins of this tier. Anything else must be seen: a guard may lie in there.
    if (['ENOENT', 'ENOTDIR'].includes(code)) return [];
    const problem = problemOf(new KernelError('CONFIG_UNREADABLE', { file: folder, problem: message }));
    return [{ tier, path: folder, entry: folder, manifest: complete({ capabilities: gatesOf(folder) }, `${tier}-plugins`), bare: true, problem }];
  }
  const scan = new ImportScan();
  return names.flatMap((name) => {
    if (name.startsWith('.') || name === 'node_modules' || /\.(d|test)\.[cm]?[jt]s$/.test(name)) return [];
    return discoverPlugin(tier, join(folder, name), confine, scan) ?? [];
  });
}

/**
 * One plugin at `path`.
 * @param confine real folder that the plugin and its relative imports must not leave
 * @returns undefined when nothing there claims to be a plugin
 */
export function discoverPlugin(tier: Tier, path: string, confine?: string, scan?: ImportScan): Candidate | undefined {
  const name = basename(path);
  const id = name.slice(0, name.length - (moduleExtensions.includes(extname(name)) ? extname(name).length : 0));
  const manifest = complete({}, id);
  try {
    const real = realpathSync(path);
    const stat = statSync(real);
    if (stat.isDirectory()) return discoverFolderPlugin(tier, path, real, name, confine, scan);
    if (!moduleExtensions.includes(extname(name))) return undefined;
    // Reading a pipe would wait for ever.
    if (!stat.isFile()) throw new KernelError('ARGUMENT', { what: `${path} is not a file`, hint: 'remove it' });
    return checked({ tier, path, entry: real, manifest, bare: true }, confine, scan);
  } catch (error) {
    return { tier, path, entry: path, manifest: { ...manifest, capabilities: id === name ? gatesOf(path) : [] }, bare: true, problem: problemOf(error) };
  }
}

function discoverFolderPlugin(tier: Tier, path: string, real: string, name: string, confine?: string, scan?: ImportScan): Candidate | undefined {
  const stated = readManifest(real, name);
  const main = stated?.main ?? indexNames.find((index) => existsSync(join(real, index)));
  if (!main) {
    if (!stated) return undefined;
    throw new KernelError('MANIFEST', { file: join(real, 'package.json'), key: 'agent.main', problem: `names no module, and there is no ${indexNames[0]}` });
  }
  const entry = resolve(real, main);
  const found = statSync(entry, { throwIfNoEntry: false });
  if (!found?.isFile()) throw new KernelError('MANIFEST', { file: join(real, 'package.json'), key: 'agent.main', problem: `${main} ${found ? 'is not a file' : 'does not exist'}` });
  return checked({ tier, path, entry, manifest: stated?.manifest ?? complete({}, name), bare: !stated }, confine, scan);
}

function checked(candidate: Candidate, confine?: string, scan?: ImportScan): Candidate {
  if (!idPattern.test(candidate.manifest.id)) return { ...candidate, problem: problemOf(new KernelError('ID', { id: candidate.manifest.id })) };
  if (confine === undefined) return candidate;
  const real = realpathSync(candidate.entry);
  if (real !== confine && !real.startsWith(confine + sep)) {
    return { ...candidate, problem: problemOf(new KernelError('ESCAPES', { file: candidate.path, line: 1, specifier: real, root: confine })) };
  }
  const leak = escapes(candidate.entry, confine, scan);
  const confined = { ...candidate, confine };
  return leak ? { ...confined, problem: problemOf(new KernelError('ESCAPES', { ...leak, root: confine })) } : confined;
}

/** A built-in: its facts are in the bundle, its code is loaded when needed. */
export function builtin(manifest: Manifest, load: NonNullable<Candidate['load']>, defines?: Candidate['defines']): Candidate {
  return { tier: 'builtin', path: 'built in', entry: '', manifest, bare: false, load, ...(defines && { defines }) };
}

export function problemOf(error: unknown): { reason: string; hint: string } {
  return { reason: describeError(error), hint: isKernelError(error) ? error.hint : '' };
}
