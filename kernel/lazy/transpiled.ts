/** Transpiled sources on disk, each under the hash of where it lies and what it says. */
import { hash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../atomic-write.ts';
import { readPlainFile } from '../paths.ts';

const format = 1;
const maxAge = 30 * 24 * 3_600_000;
const maxFiles = 2_000;

/** A private folder, always rebuildable: what cannot be read, or is not what was written, is transpiled again. */
export class TranspiledSources {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The code that `source` became, if it did before. */
  find(filename: string, source: string): string | undefined {
    try {
      const text = readPlainFile(this.#file(filename, source));
      const end = text.lastIndexOf(mark);
      const code = text.slice(0, end);
      return end > 0 && text.slice(end + mark.length) === hash('sha256', code) ? code : undefined;
    } catch {
      return undefined;
    }
  }

  keep(filename: string, source: string, code: string): void {
    const file = this.#file(filename, source);
    try {
      writeAtomic(file, code + mark + hash('sha256', code));
      this.#prune();
    } catch {
      // A disk that cannot be written costs the next start its speed, and nothing else.
    }
  }

  #file(filename: string, source: string): string {
    return join(this.#folder, `${hash('sha256', JSON.stringify([format, filename, source])).slice(0, 40)}.cjs`);
  }

  /** Sources change, and what they were before is not asked for again. */
  #prune(): void {
    const names = readdirSync(this.#folder);
    if (names.length <= maxFiles) return;
    const oldest = Date.now() - maxAge;
    for (const path of names.map((name) => join(this.#folder, name))) if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < oldest) rmSync(path, { force: true });
  }
}

const mark = '\n//sha256 ';
