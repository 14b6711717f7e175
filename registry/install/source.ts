/** What `agent plugin add <source>` means. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { homeFolder } from 'newt-agent';
import type { Catalog } from '../catalog.ts';
import { packageNamePattern } from '../lock.ts';
import { refused } from '../report.ts';
import { isRange } from './packuments.ts';

export type Source =
  | { readonly kind: 'catalog'; readonly name: string; readonly folder: string; readonly package: string }
  | { readonly kind: 'npm'; readonly name: string; readonly range: string }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'tarball'; readonly path: string };

const tarballName = /\.(?:tgz|tar\.gz)$/i;
const scopedName = /^(@[^/@\s]+\/[^/@\s]+|[^/@\s]+)(?:@(.*))?$/s;

/**
 * A name of the catalog, a folder, a tarball, or a package of the registry, in this order: what is here is never looked
 * for there. `name@*` is always the package.
 *
 * @throws OperationalError for anything else, with the reason and what to do
 */
export function parseSource(given: string, catalog: Catalog): Source {
  const path = resolve(given.replace(/^~(?=\/|$)/, homeFolder() ?? '~'));
  const isPath = /^(?:\.{0,2}\/|\.{1,2}$|~\/|[a-z]:[\\/])/i.test(given);
  if (given === '') throw refused("'' does not exist", 'give the name of a package, or the path of a plugin folder');
  refuseAddresses(given);
  if (Object.hasOwn(catalog, given)) {
    const { folder, package: name } = catalog[given] ?? { folder: '', package: '' };
    return { kind: 'catalog', name: given, folder, package: name };
  }
  const looksLikeFile = isPath || tarballName.test(given) || (given.includes('/') && !given.startsWith('@'));
  if (looksLikeFile || (given.includes('/') && existsSync(path))) {
    if (!existsSync(path)) throw refused(`${given} does not exist`, !isPath && /^[\w.-]+\/[\w.-]+$/.test(given) ? 'what is hosted elsewhere cannot be added directly: clone it, look at it, then add the folder' : 'give the path of a plugin folder, or of a .tgz file');
    return tarballName.test(path) && statSync(path).isFile() ? { kind: 'tarball', path } : { kind: 'folder', path };
  }
  const [, name = '', range = ''] = scopedName.exec(given) ?? [];
  if (!packageNamePattern.test(name) || name.length > 214) throw refused(`"${given}" is no name of a package, and no folder`, 'give a name like agent-plugin-x, name@^1.2, ./folder or file.tgz');
  if (!isRange(range)) throw refused(`"${range}" is no version and no range`, `a tag says nothing that could be agreed to: leave it out, or give ${name}@^1.2 or ${name}@1.2.3`);
  // What lies here is the person's own; the package of that name has another way to be asked for.
  if (range === '' && existsSync(path)) return { kind: 'folder', path };
  return { kind: 'npm', name, range: range.trim() };
}

/** Code from an address cannot be checked against anything that was agreed to. */
function refuseAddresses(given: string): void {
  if (/(?:^|@)npm:/i.test(given)) throw refused(`${given} gives a package another name, which is never done`, 'give the package its own name');
  if (/^(?:git\+|git:|ssh:|github:|gitlab:|bitbucket:|gist:)/i.test(given) || /^[\w.-]+@[\w.-]+:/.test(given) || /\.git(?:#.*)?$/i.test(given)) throw refused(`${given} is a git address, and those are never installed`, 'clone it, look at it, then: agent plugin add ./folder');
  if (/^[a-z]+:\/\//i.test(given)) throw refused(`${given} is an address, and nothing is installed from one`, 'download it, look at it, then: agent plugin add ./file.tgz');
  if (/^(?:file|link):/i.test(given)) throw refused(`${given}: give the path itself`, `agent plugin add ${given.replace(/^\w+:/, '') || './folder'}`);
}
