/** The files of the workspace by name, for completion: nearest first, without what git ignores, bounded in work. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** Paths relative to the workspace with `/`; folders end in one. */
export type FileNames = () => readonly string[];

const maxNames = 5_000;
const maxMs = 150;
/** How long a list stands for the folder as it is, in milliseconds. */
const freshMs = 3_000;

/** @param now milliseconds from a clock that does not go back */
export function fileNames(root: string, now: () => number = () => performance.now()): FileNames {
  let names: readonly string[] = [];
  let listed = -Infinity;
  return () => {
    if (now() - listed > freshMs) {
      names = list(root, now);
      listed = now();
    }
    return names;
  };
}

interface Folder {
  readonly path: string;
  /** The rules that hold in it, each with the folder of its ignore file. */
  readonly rules: readonly { readonly base: string; readonly rule: Ignore }[];
}

/** Level by level, so that a bound cuts off what is deepest. */
function list(root: string, now: () => number): string[] {
  const names: string[] = [];
  const folders: Folder[] = [{ path: '', rules: [] }];
  const end = now() + maxMs;
  for (let folder = folders.shift(); folder && names.length < maxNames && now() < end; folder = folders.shift()) {
    const { path } = folder;
    const own = rulesIn(join(root, path));
    const rules = own ? [...folder.rules, { base: path, rule: own }] : folder.rules;
    for (const entry of entriesOf(join(root, path))) {
      if (entry.name === '.git' || entry.name === 'node_modules') continue;
      const name = `${path}${entry.name}${entry.isDirectory() ? '/' : ''}`;
      if (rules.some(({ base, rule }) => rule.ignores(name.slice(base.length)))) continue;
      if (entry.isDirectory()) folders.push({ path: name, rules });
      if (names.push(name) >= maxNames) break;
    }
  }
  return names;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // a folder that cannot be read has nothing to offer
  }
}

function rulesIn(folder: string): Ignore | undefined {
  try {
    return ignore().add(readFileSync(join(folder, '.gitignore'), 'utf8'));
  } catch {
    return undefined;
  }
}
