/** What a change of a file looks like to the person who is asked about it. */
import { revealed } from 'newt-agent';
import { byteSize } from './byte-size.ts';
import { decodeUnits, toCodeUnits } from './text-encoding.ts';

const maxLines = 200;
const maxBytes = 4_000_000;
const maxMilliseconds = 2000;

/** A unified diff of at most 200 lines; a sentence where there is too much to compare. */
export async function fileDiff(path: string, before: Buffer | undefined, after: Buffer): Promise<string> {
  const summary = `${path}: ${before ? `${byteSize(before.length)} become ` : 'new file of '}${byteSize(after.length)}`;
  if ((before?.length ?? 0) + after.length > maxBytes) return `${summary} (too large to show the difference)`;
  // Only a question to a person needs it: every start would pay for it otherwise.
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff');
  const patch = createTwoFilesPatch(before ? path : '/dev/null', path, readable(before), readable(after), undefined, undefined, {
    context: 3,
    timeout: maxMilliseconds,
    headerOptions: FILE_HEADERS_ONLY,
  });
  if (patch === undefined) return `${summary} (too different to show line by line)`;
  // Also shows a change from LF to CRLF.
  const lines = revealed(patch).trimEnd().split('\n');
  const rest = lines.length - maxLines;
  return rest > 0 ? `${lines.slice(0, maxLines).join('\n')}\n… ${rest} more lines` : lines.join('\n');
}

function readable(bytes: Buffer | undefined): string {
  if (!bytes) return '';
  const content = toCodeUnits(bytes);
  return decodeUnits(content.units, content.mark.encoding);
}
