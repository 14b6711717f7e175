import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { tool, type ToolResult, z } from 'newt-agent';
import { byteSize } from './byte-size.ts';
import { answerFailures } from './file-failure.ts';
import { pathInput } from './path-input.ts';
import { specialKind } from './regular-file.ts';

const maxEntries = 500;

const input = z.object({ path: pathInput.optional().describe('default: the workspace') });

export const listDirectory = tool({
  description: `List a directory: folders first, with sizes and link targets (at most ${maxEntries} entries).`,
  input,
  effect: 'read',
  touches: ({ path = '.' }) => [{ path, access: 'read' }],
  run: ({ path = '.' }, call) => answerFailures(path, undefined, async () => list(await call.resolve(path, 'read'), path)),
});

async function list(real: string, given: string): Promise<ToolResult> {
  if (!(await stat(real)).isDirectory()) return { text: `${given} is not a directory. Use read_file to see a file.`, isError: true };
  const entries = (await readdir(real, { withFileTypes: true })).sort(byKindAndName);
  if (entries.length === 0) return { text: '(empty directory)' };
  const lines = await Promise.all(entries.slice(0, maxEntries).map((entry) => describe(real, entry)));
  const rest = entries.length - lines.length;
  if (rest > 0) lines.push(`(… ${rest} more of ${entries.length} entries; use glob with a pattern to see others)`);
  return { text: lines.join('\n') };
}

function byKindAndName(a: Dirent, b: Dirent): number {
  const kinds = Number(b.isDirectory()) - Number(a.isDirectory());
  return kinds || (a.name < b.name ? -1 : 1);
}

async function describe(folder: string, entry: Dirent): Promise<string> {
  const name = printableName(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  const path = join(folder, entry.name);
  if (entry.isSymbolicLink()) return `${name} -> ${await readlink(path).then(printableName, () => '?')}`;
  if (!entry.isFile()) return `${name}  (${specialKind(entry)})`;
  // An entry may be gone by now; it was there when the directory was read.
  const size = await lstat(path).then((stats) => byteSize(stats.size), () => '?');
  return `${name}  ${size}`;
}

/** A name with a newline or an escape sequence must not look like more entries. */
function printableName(name: string): string {
  return /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
}
