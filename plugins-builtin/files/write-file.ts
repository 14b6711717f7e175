import { OperationalError, tool, type ToolCall, type ToolResult, z } from 'newt-agent';
import { writeAtomically } from './atomic-write.ts';
import { byteSize } from './byte-size.ts';
import { type ExistingFile, inspectExisting } from './existing-file.ts';
import { fileDiff } from './file-diff.ts';
import { answerFailures, failureText } from './file-failure.ts';
import { pathInput } from './path-input.ts';
import { contentDigest, knowledge, recordSeen } from './read-ledger.ts';
import { openIfPresent } from './regular-file.ts';
import { byteOrderMark, encodeFile, encodingLabel, type Mark, readMark } from './text-encoding.ts';

const input = z.object({ path: pathInput, content: z.string() });

type Input = z.output<typeof input>;

const nothingWritten = 'Nothing was written.';
const replacementCharacter = '\uFFFD';
const maxPreviewBytes = 4_000_000;

export const writeFile = tool({
  description: 'Create a file, with its parent folders, or replace the whole content of one. To change part of a file use replace_in_file.',
  input,
  effect: 'write',
  idempotent: true,
  touches: ({ path }) => [{ path, access: 'write' }],
  preview: previewWrite,
  run: (request, call) => answerFailures(request.path, nothingWritten, () => write(request, call)),
});

async function write({ path, content }: Input, call: ToolCall): Promise<ToolResult> {
  if (!content.isWellFormed()) {
    throw new OperationalError('content contains half a surrogate pair, which no file can hold. Send the whole character.');
  }
  const real = await call.resolve(path, 'write');
  const existing = await inspectExisting(real, path, call.signal);
  const known = existing ? knowledge(call.session, real, existing.digest) : 'same';
  if (known === 'changed') throw new OperationalError(`${path} has changed on disk since you read it. Read it again, then write with those changes in mind.`);
  if (existing) refuseLoss(existing, content, path);
  const bytes = encodeAs(content, existing?.mark);
  await writeAtomically(real, bytes);
  recordSeen(call.session, real, contentDigest(bytes));
  const wrote = `Wrote ${lineCount(content)} (${byteSize(bytes.length)}) to ${path}.`;
  return { text: [wrote, ...remarks(existing, known === 'unread')].join(' ') };
}

/** What read_file showed as U+FFFD are bytes it could not show; written back, they would be gone. */
function refuseLoss(existing: ExistingFile, content: string, path: string): void {
  if (existing.wellFormed || !content.includes(replacementCharacter)) return;
  throw new OperationalError(
    `${path} holds bytes that are not ${encodingLabel[existing.mark.encoding]}, and content has U+FFFD where they were shown: writing it would destroy them. Change only the other parts, with replace_in_file.`,
  );
}

async function previewWrite({ path, content }: Input, call: ToolCall): Promise<string> {
  try {
    const handle = await openIfPresent(await call.resolve(path, 'write'), path);
    if (!handle) return fileDiff(path, undefined, encodeAs(content, undefined));
    try {
      const { size } = await handle.stat();
      if (size > maxPreviewBytes) return `${path}: ${byteSize(Buffer.byteLength(content))} replace ${byteSize(size)}`;
      const before = await handle.readFile();
      return fileDiff(path, before, encodeAs(content, readMark(before)));
    } finally {
      await handle.close();
    }
  } catch (error) {
    return `This write will fail: ${failureText(error, path)}`;
  }
}

/** The file's encoding and its one byte-order mark stay; a mark in the content is the same mark, not a second one. */
function encodeAs(content: string, mark: Mark | undefined): Buffer {
  const isMarked = content.startsWith(byteOrderMark);
  const text = isMarked ? content.slice(1) : content;
  return encodeFile(text, mark?.encoding ?? 'utf-8', isMarked || (mark?.length ?? 0) > 0);
}

function remarks(existing: ExistingFile | undefined, isUnread: boolean): string[] {
  if (!existing) return [];
  const { bytes, lines, mark, wellFormed } = existing;
  const found: string[] = [];
  if (isUnread && bytes > 0) found.push(`It replaced ${counted(lines)} that you had not read.`);
  if (mark.encoding !== 'utf-8') found.push(`The file stays ${encodingLabel[mark.encoding]}.`);
  else if (!wellFormed) found.push('The old content was not UTF-8; the new one is.');
  return found;
}

function lineCount(text: string): string {
  const pieces = text.split('\n').length;
  return counted(text === '' || text.endsWith('\n') ? pieces - 1 : pieces);
}

function counted(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`;
}
