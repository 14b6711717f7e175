/** Where in its source a module failed to load, as far as it can be told. */
import { readFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { KernelError } from '../errors.ts';

/** Says which line imports what is not there; jiti only knows the file. */
export function explainLoad(error: unknown, entry: string): unknown {
  if (typeof error !== 'object' || error === null) return error;
  const { code, requireStack } = error as NodeJS.ErrnoException & { requireStack?: readonly string[] };
  const specifier = /Cannot find (?:module|package) '([^']+)'/.exec(String((error as Error | undefined)?.message))?.[1];
  if (!specifier || (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND')) return error;
  const file = requireStack?.[0] ?? entry;
  return new KernelError(/^[./]|^file:/.test(specifier) ? 'MISSING_FILE' : 'MISSING_PACKAGE', { file: relative(dirname(entry), file), line: lineOf(file, (line) => line.includes(`'${specifier}'`) || line.includes(`"${specifier}"`)) || 1, specifier, folder: dirname(file) }, { cause: error });
}

/** `file:line` of the first top-level await of a module that never came up, as far as it can be seen. */
export function pendingPlace(entry: string): string {
  const line = lineOf(entry, (text) => /^(?:(?:export\s+)?(?:const|let|var)\s[^=]*=\s*)?await\b/.test(text));
  return line === 0 ? basename(entry) : `${basename(entry)}:${line}`;
}

/** The number of the first line that is what is looked for; 0 where none is. */
function lineOf(file: string, isIt: (line: string) => boolean): number {
  try {
    return readFileSync(file, 'utf8').split('\n').findIndex(isIt) + 1;
  } catch {
    return 0;
  }
}
