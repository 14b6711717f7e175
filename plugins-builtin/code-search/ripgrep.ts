/** Search with ripgrep, where there is one. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram, OperationalError } from 'newt-agent';
import { excerpt } from './excerpt.ts';
import { ignoreFilter, rulesFor } from './ignore-rules.ts';
import { type Match, maxFileBytes, maxTextLength, type SearchQuery } from './search-query.ts';
import type { SkipNotes } from './skip-notes.ts';

interface MatchRecord {
  readonly type: 'match';
  readonly data: {
    readonly path: EncodedText;
    readonly lines: EncodedText;
    readonly line_number: number;
    readonly submatches: readonly { readonly start: number }[];
  };
}

/** The records of `rg --json`. */
type SearchRecord = MatchRecord | { readonly type: 'begin' | 'end' | 'context' | 'summary' };

/** Text, or base64 where it is not UTF-8. */
type EncodedText = { readonly text: string } | { readonly bytes: string };

/**
 * The absolute path of `rg` in `searchPath` (the value of PATH). One that lies in `workspace` is passed over: a
 * repository must not bring the program that a read-only search runs.
 */
export async function findRipgrep(searchPath: string, workspace: string, platform = process.platform): Promise<string | undefined> {
  return findProgram('rg', searchPath, workspace, platform);
}

/**
 * Searches in path order and answers at most `query.limit` matching lines, from the same files as the built-in search.
 *
 * @throws OperationalError when ripgrep does not understand the pattern, or breaks off
 */
export async function searchWithRipgrep(program: string, query: SearchQuery, skipped: SkipNotes): Promise<Match[]> {
  const { place, glob, signal } = query;
  const rules = await rulesFor(place.root, place.path);
  const isIgnored = ignoreFilter(rules, place.path);
  const options = place.isFile ? [] : folderOptions(query, rules.present);
  if (!place.isFile && !rules.present) await notePackages(query, skipped);
  const { execa } = await import('execa');
  const child = execa(program, [...baseOptions(query), ...options, '--', query.pattern, place.isFile ? `./${place.path}` : './'], {
    cwd: place.isFile ? place.root : join(place.root, place.path),
    stdin: 'ignore',
    reject: false,
    buffer: { stdout: false },
    cancelSignal: signal,
  });
  const matches: Match[] = [];
  let isComplete = false;
  for await (const line of child.iterable({ from: 'stdout' })) {
    const record = parseRecord(line);
    isComplete ||= record?.type === 'summary';
    if (record?.type !== 'match') continue;
    const name = decode(record.data.path).replace(/^\.\//, () => '');
    const path = place.isFile || !place.path ? name : `${place.path}/${name}`;
    const isWanted = place.isFile || ((glob?.matches(name) ?? true) && !(await isIgnored(path)));
    if (isWanted) matches.push({ path, line: record.data.line_number, text: textOf(record.data) });
    if (matches.length < query.limit) continue;
    isComplete = true;
    child.kill();
    break;
  }
  const { exitCode, stderr } = await child;
  signal.throwIfAborted();
  // The exit code is 2 both for a malformed pattern and for a search with one unreadable file.
  if (!isComplete) throw new OperationalError(`ripgrep failed: ${stderr.trim().slice(0, 1000) || `exit code ${exitCode}`}`);
  for (const [, path] of stderr.matchAll(/^(?:\.\/)?(.+?): /gm)) skipped.note('unreadable', path ?? '');
  return matches;
}

function baseOptions({ ignoreCase }: SearchQuery): string[] {
  // `auto`: look-around and back-references, which only its second engine knows, work as in the built-in search.
  const options = ['--no-config', '--json', '--crlf', '--engine', 'auto', '--max-filesize', `${maxFileBytes}`];
  return ignoreCase ? [...options, '--ignore-case'] : options;
}

/**
 * Ignore files within the folder are left to ripgrep, with the same meaning in and outside of a repository. Those above
 * are not: it would also follow the ones above the workspace, so they are applied to what it finds.
 */
function folderOptions({ glob }: SearchQuery, hasRules: boolean): string[] {
  return [
    ...['--hidden', '--sort', 'path', '--no-require-git'],
    ...['--no-ignore-parent', '--no-ignore-global', '--no-ignore-exclude', '--no-ignore-dot'],
    ...['--glob', '!.git'],
    ...(hasRules ? [] : ['--glob', '!node_modules']),
    // Only a shortcut, since the pattern is matched here anyway. Not --glob, which would bring ignored files back.
    ...(glob?.plainName ? ['--type-add', `wanted:${glob.plainName}`, '--type', 'wanted'] : []),
  ];
}

async function notePackages({ place }: SearchQuery, skipped: SkipNotes): Promise<void> {
  const path = place.path ? `${place.path}/node_modules` : 'node_modules';
  const isThere = await access(join(place.root, path)).then(() => true, () => false);
  if (isThere) skipped.note('node_modules', path);
}

/** Undefined for the torn last line of a search that was ended from outside. */
function parseRecord(line: string): SearchRecord | undefined {
  try {
    return JSON.parse(line) as SearchRecord;
  } catch {
    return undefined;
  }
}

function decode(encoded: EncodedText): string {
  return 'text' in encoded ? encoded.text : Buffer.from(encoded.bytes, 'base64').toString('utf8');
}

function textOf({ lines, submatches }: MatchRecord['data']): string {
  const line = decode(lines).replace(/\r?\n$/, () => '');
  if (line.length <= maxTextLength) return line;
  // ripgrep counts bytes.
  const at = Buffer.from(line, 'utf8').toString('utf8', 0, submatches[0]?.start ?? 0).length;
  return excerpt(line, at, maxTextLength);
}
