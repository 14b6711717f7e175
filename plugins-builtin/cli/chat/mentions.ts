/** `@file` in a message: its content goes with it, as far as that is text of the workspace and not too much. */
import { closeSync, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

export interface Message {
  /** What the person said, then the files. */
  readonly text: string;
  /** What was not attached, and why: one line each, for the person. */
  readonly refused: readonly string[];
}

export const maxFileBytes = 50_000;
const maxTotalBytes = 200_000;
const maxFiles = 20;

/** A name with blanks stands in quotation marks. An address such as `me@host` is none. */
const mention = /(?<=^|[\s([{<`'"])@(?:"([^"\n]+)"|([^\s"]+))/g;
/** What ends a sentence rather than a name. */
const punctuation = /[.,;:!?)\]}>'`]+$/;

/** @param cwd the workspace; files outside of it, also behind links, are refused */
export function withMentions(text: string, cwd: string): Message {
  const root = realpathSync(cwd);
  const refused: string[] = [];
  const parts: string[] = [];
  const seen = new Set<string>();
  let total = 0;
  for (const [, quoted, bare = ''] of text.matchAll(mention)) {
    const given = quoted ?? bare;
    const file = found(root, given) ?? (quoted === undefined ? found(root, given.replace(punctuation, '')) : undefined);
    // No file is meant by every `@`: a decorator, a person.
    if (file === undefined || seen.has(file)) continue;
    seen.add(file);
    const name = relative(root, file);
    const isOutside = name === '..' || name.startsWith(`..${sep}`) || isAbsolute(name);
    if (isOutside) refused.push(`${given} is not attached: it lies outside of ${cwd}`);
    else if (statSync(file).isDirectory()) continue;
    else if (seen.size > maxFiles) refused.push(`${given} is not attached: a message takes ${maxFiles} files`);
    else {
      const content = read(file, maxTotalBytes - total);
      if (typeof content === 'string') {
        total += Buffer.byteLength(content);
        parts.push(`<file path="${name}">\n${content}${content.endsWith('\n') ? '' : '\n'}</file>`);
      } else if (content.bytes !== undefined) parts.push(`<file path="${name}">\n(${content.bytes} bytes: too large to attach. Read what you need of it with your tools.)\n</file>`);
      else refused.push(`${given} is not attached: ${content.problem}`);
    }
  }
  return { text: [text, ...parts].join('\n\n'), refused };
}

/** The real path of what is there. */
function found(root: string, given: string): string | undefined {
  if (!given) return undefined;
  try {
    return realpathSync(resolve(root, given));
  } catch {
    return undefined; // nothing of that name: the text is left as it is
  }
}

type Unread = { readonly bytes: number; readonly problem?: undefined } | { readonly bytes?: undefined; readonly problem: string };

function read(file: string, room: number): string | Unread {
  let fd: number | undefined;
  try {
    // Opening what is no file, such as a pipe, could wait for ever.
    if (!statSync(file).isFile()) return { problem: 'it is no file' };
    fd = openSync(file, 'r');
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, maxFileBytes));
    let filled = 0;
    for (let got = -1; got !== 0 && filled < bytes.length; filled += got) got = readSync(fd, bytes, filled, bytes.length - filled, filled);
    const content = bytes.subarray(0, filled);
    if (content.includes(0)) return { problem: 'it is not text' };
    if (size > maxFileBytes || size > room) return { bytes: size };
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch (error) {
    return { problem: error instanceof TypeError ? 'it is not text in UTF-8' : (error as Error).message };
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
