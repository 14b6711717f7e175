/** What a rewrite would make of which files, and whether that is still what was shown. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { OperationalError, type ToolSession } from 'newt-agent';
import { decodeText, encodeText } from './engine/decode-text.ts';
import type { Edit, RewriteRecord } from './engine/protocol.ts';
import { type Place, shownPath } from './place.ts';

export interface PlannedFile {
  /** As the session's `resolve` takes it. */
  readonly given: string;
  readonly shown: string;
  /** Absolute and real. */
  readonly real: string;
  readonly digest: string;
  readonly before: string;
  readonly after: string;
  readonly bytes: Buffer;
  readonly edits: number;
  readonly nested: number;
  readonly breaks: boolean;
}

const contextLines = 3;
const diffMilliseconds = 2_000;
const memoryKey = 'grep';
const mostRemembered = 20;

/** @throws OperationalError when the file is not what the search saw, or cannot be read */
export async function planFile(place: Place, { path, digest, edits, nested, breaks }: RewriteRecord): Promise<PlannedFile> {
  const real = join(place.root, path);
  const shown = shownPath(place, path);
  const content = await readPlain(real, shown);
  const decoded = digestOf(content) === digest ? decodeText(content) : undefined;
  if (!decoded?.exact) throw changed(shown);
  const after = applyEdits(decoded.text, edits);
  return { given: place.prefix + path, shown, real, digest, before: decoded.text, after, bytes: encodeText(after, decoded), edits: edits.length, nested, breaks };
}

/** @throws OperationalError when the file is not what was planned for */
export async function requireUnchanged({ real, shown, digest }: PlannedFile): Promise<void> {
  if (digestOf(await readPlain(real, shown)) !== digest) throw changed(shown);
}

function changed(shown: string): OperationalError {
  return new OperationalError(`${shown} changed in the meantime. Look at it again.`);
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function readPlain(real: string, shown: string): Promise<Buffer> {
  try {
    const handle = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
    try {
      if (!(await handle.stat()).isFile()) throw changed(shown);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof OperationalError) throw error;
    throw new OperationalError(`${shown} could not be read again: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}.`);
  }
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: replaced } of edits) {
    parts.push(text.slice(at, start), replaced);
    at = end;
  }
  return parts.join('') + text.slice(at);
}

/** A unified diff of all files. */
export async function diffOf(files: readonly PlannedFile[]): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff');
  const patches = files.map(({ shown, before, after }) => createTwoFilesPatch(shown, shown, before, after, undefined, undefined, { context: contextLines, timeout: diffMilliseconds, headerOptions: FILE_HEADERS_ONLY })?.trimEnd() ?? `${shown}: too different to show line by line`);
  return patches.join('\n');
}

/** Notes what was shown of a rewrite. */
export function rememberShown(session: ToolSession, request: string, files: readonly PlannedFile[]): void {
  const shown = memoryOf(session);
  shown.delete(request);
  shown.set(request, new Map(files.map(({ real, digest }) => [real, digest])));
  const [oldest] = shown.keys();
  if (shown.size > mostRemembered && oldest !== undefined) shown.delete(oldest);
}

/** @throws OperationalError when the rewrite was shown, and would now do something else */
export function requireShown(session: ToolSession, request: string, files: readonly PlannedFile[]): void {
  const shown = memoryOf(session).get(request);
  if (!shown) return;
  const differs = files.filter(({ real, digest }) => shown.get(real) !== digest).map((file) => file.shown);
  const isGone = [...shown.keys()].some((real) => !files.some((file) => file.real === real));
  if (differs.length === 0 && !isGone) return;
  throw new OperationalError(`${differs.length > 0 ? `${differs.slice(0, 3).join(', ')}${differs.length > 3 ? ` and ${differs.length - 3} more` : ''} changed` : 'A file changed'} since the preview. Call it without apply to see what would happen now.`);
}

function memoryOf(session: ToolSession): Map<string, ReadonlyMap<string, string>> {
  const known = session.memory.get(memoryKey);
  if (known instanceof Map) return known as Map<string, ReadonlyMap<string, string>>;
  const fresh = new Map<string, ReadonlyMap<string, string>>();
  session.memory.set(memoryKey, fresh);
  return fresh;
}
