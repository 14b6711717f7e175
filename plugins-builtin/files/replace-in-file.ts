import { OperationalError, tool, type ToolCall, type ToolResult, z } from 'newt-agent';
import { writeAtomically } from './atomic-write.ts';
import { byteSize } from './byte-size.ts';
import { fileDiff } from './file-diff.ts';
import { answerFailures, failureText } from './file-failure.ts';
import { pathInput } from './path-input.ts';
import { contentDigest, knowledge, recordSeen } from './read-ledger.ts';
import { openRegularFile } from './regular-file.ts';
import { type Replacement, replaceText } from './replacement.ts';

const input = z.object({
  path: pathInput,
  old_text: z.string().describe('exactly as in the file, without line numbers'),
  new_text: z.string(),
  replace_all: z.boolean().optional(),
});

type Input = z.output<typeof input>;

interface Edit extends Replacement {
  readonly real: string;
  readonly before: Buffer;
}

const nothingWritten = 'Nothing was written.';
const maxBytes = 64_000_000;
const maxListedLines = 10;

export const replaceInFile = tool({
  description: 'Replace text in a file. old_text must occur exactly once, unless replace_all is set; white space counts. All other bytes, the encoding and the line endings stay.',
  input,
  effect: 'write',
  idempotent: false,
  touches: ({ path }) => [{ path, access: 'write' }],
  preview: previewReplacement,
  run: (request, call) => answerFailures(request.path, nothingWritten, () => applyReplacement(request, call)),
});

async function applyReplacement(request: Input, call: ToolCall): Promise<ToolResult> {
  const { real, before, bytes, lines } = await prepare(request, call);
  const known = knowledge(call.session, real, contentDigest(before));
  await writeAtomically(real, bytes);
  // After somebody else's change the model still has not seen the whole: a later write_file must say so.
  if (known === 'same') recordSeen(call.session, real, contentDigest(bytes));
  const occurrences = lines.length === 1 ? '1 occurrence' : `${lines.length} occurrences`;
  const text = `Replaced ${occurrences} in ${request.path} (${describeLines(lines)}).`;
  if (known !== 'changed') return { text };
  return { text: `${text} Note: the file had changed on disk since you read it; the other changes were kept.` };
}

async function previewReplacement(request: Input, call: ToolCall): Promise<string> {
  try {
    const { before, bytes } = await prepare(request, call);
    return fileDiff(request.path, before, bytes);
  } catch (error) {
    return `This edit will fail: ${failureText(error, request.path)}`;
  }
}

async function prepare({ path, old_text, new_text, replace_all }: Input, call: ToolCall): Promise<Edit> {
  const real = await call.resolve(path, 'write');
  const before = await readWhole(real, path, call.signal);
  return { real, before, ...replaceText(before, { path, oldText: old_text, newText: new_text, replaceAll: replace_all ?? false }) };
}

async function readWhole(real: string, given: string, signal: AbortSignal): Promise<Buffer> {
  const handle = await openRegularFile(real, given);
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw new OperationalError(`${given} has ${byteSize(size)}; files above ${byteSize(maxBytes)} are edited with run_command (sed).`);
    return await handle.readFile({ signal });
  } finally {
    await handle.close();
  }
}

function describeLines(lines: readonly number[]): string {
  if (lines.length === 1) return `line ${lines[0]}`;
  const rest = lines.length - maxListedLines;
  return `lines ${lines.slice(0, maxListedLines).join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}
