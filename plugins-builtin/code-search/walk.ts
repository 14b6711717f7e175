/** Walking a folder's files in the order of their paths. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SkipReason } from './skip-notes.ts';
import { ignoreFileName, type IgnoreRules, rulesFor } from './ignore-rules.ts';

interface WalkedFile {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  /** Relative to the folder that is walked, with `/`. */
  readonly name: string;
  /** A symbolic link, which is not followed: it may lead anywhere. */
  readonly isLink: boolean;
}

interface WalkRequest {
  /** Absolute path of the workspace: ignore files above it do not count. */
  readonly root: string;
  /** The folder to walk, relative to `root`; the empty string is `root` itself. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Whether to enter a folder, given relative to the walked one. */
  enter?(name: string): boolean;
  /** Hears of folders that are left out for a reason the user did not write down. */
  onSkip?(reason: SkipReason, path: string): void;
}

/** Far deeper than people nest folders; a bound for trees made to hurt. */
const maxDepth = 200;

/**
 * Yields files, hidden ones included. Left out: `.git`, what ignore files name, what is neither file nor link, and
 * `node_modules` where the searched folder and those above it have no ignore file.
 */
export async function* walk(request: WalkRequest): AsyncGenerator<WalkedFile> {
  const { root, folder, signal } = request;
  const rules = await rulesFor(root, folder);
  const skipsPackages = !rules.present;
  yield* walkFolder({ path: folder, name: '', depth: 0 }, rules);

  async function* walkFolder(place: Place, inherited: IgnoreRules): AsyncGenerator<WalkedFile> {
    signal.throwIfAborted();
    const entries = await readFolder(request, place);
    const hasRules = place.depth > 0 && entries.some(({ name }) => name === ignoreFileName);
    const rules = hasRules ? await inherited.below(place.path) : inherited;
    for (const entry of entries) {
      const path = place.path ? `${place.path}/${entry.name}` : entry.name;
      const name = place.name ? `${place.name}/${entry.name}` : entry.name;
      if (entry.name === '.git' || rules.ignores(path, entry.isDirectory())) continue;
      if (!entry.isDirectory()) {
        if (entry.isFile() || entry.isSymbolicLink()) yield { path, name, isLink: entry.isSymbolicLink() };
      } else if (entry.name === 'node_modules' && skipsPackages) {
        request.onSkip?.('node_modules', path);
      } else if (place.depth >= maxDepth) {
        request.onSkip?.('too deep', path);
      } else if (request.enter?.(name) ?? true) {
        yield* walkFolder({ path, name, depth: place.depth + 1 }, rules);
      }
    }
  }
}

interface Place {
  readonly path: string;
  readonly name: string;
  readonly depth: number;
}

async function readFolder({ root, onSkip }: WalkRequest, { path }: Place): Promise<Dirent[]> {
  try {
    const entries = await readdir(join(root, path), { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    onSkip?.('unreadable', path || '.');
    return [];
  }
}
