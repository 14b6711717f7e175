import type { FileHandle } from 'node:fs/promises';
import { shellWord, tool, type ToolCall, type ToolResult, z } from 'newt-agent';
import { byteSize } from './byte-size.ts';
import { answerFailures } from './file-failure.ts';
import { type ImageHeader, readImageHeader } from './image-header.ts';
import { type LineWindow, readLineWindow, type WindowLine } from './line-window.ts';
import { pathInput } from './path-input.ts';
import { contentDigest, forget, recordSeen } from './read-ledger.ts';
import { openRegularFile } from './regular-file.ts';
import { encodingLabel, isBinary, type Mark, readMark, sniffLength } from './text-encoding.ts';

const maxLines = 2000;
/** Below the 50 kB at which the session loop spills a result: the notes need room. */
const maxBytes = 48_000;
const gutterBytes = 8;
const maxLineLength = 2000;
const maxImageBytes = 5_000_000;
/** Larger files are not read to their end: neither their lines are counted nor their content remembered. */
const maxTrackedBytes = 10_000_000;

const input = z.object({
  path: pathInput,
  start_line: z.int().min(1).optional(),
  end_line: z.int().min(1).optional().describe('inclusive'),
});

type Input = z.output<typeof input>;

/** What is known of the open file. */
interface Source {
  readonly handle: FileHandle;
  readonly given: string;
  readonly real: string;
  readonly size: number;
}

export const readFile = tool({
  description: `Read a text file with line numbers (at most ${maxLines} lines or 48 kB a call; give start_line to go on), or look at an image.`,
  input,
  effect: 'read',
  touches: ({ path }) => [{ path, access: 'read' }],
  run: (request, call) =>
    answerFailures(request.path, undefined, async () => {
      const real = await call.resolve(request.path, 'read');
      const handle = await openRegularFile(real, request.path);
      try {
        const { size } = await handle.stat();
        return await readOpenFile({ handle, given: request.path, real, size }, request, call);
      } finally {
        await handle.close();
      }
    }),
});

async function readOpenFile(source: Source, request: Input, call: ToolCall): Promise<ToolResult> {
  const head = await readHead(source.handle, sniffLength);
  const image = readImageHeader(head);
  if (image) return readImage(source, image, call);
  const mark = readMark(head);
  if (isBinary(head, mark)) {
    forget(call.session, source.real);
    return { text: `${source.given} is a binary file of ${byteSize(source.size)}; its content is not shown. Inspect it with run_command (file, xxd, strings).` };
  }
  return readText(source, mark, request, call);
}

async function readHead(handle: FileHandle, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
}

async function readImage(source: Source, sniffed: ImageHeader, call: ToolCall): Promise<ToolResult> {
  const { given, size } = source;
  forget(call.session, source.real);
  if (size > maxImageBytes) {
    return { text: `${given} is a ${sniffed.label} image of ${byteSize(size)}; images above ${byteSize(maxImageBytes)} are not shown. Make a smaller copy with run_command.`, isError: true };
  }
  const bytes = await readHead(source.handle, size);
  const image = readImageHeader(bytes) ?? sniffed;
  // A provider rejects a request with a broken image, and every later one that repeats it.
  if (!image.size) return { text: `${given} starts like a ${image.label} image but its header is damaged; it is not shown.`, isError: true };
  recordSeen(call.session, source.real, contentDigest(bytes));
  return {
    text: `${given}: ${image.label} image, ${image.size.width}x${image.size.height} pixels, ${byteSize(size)}.`,
    images: [{ mediaType: image.mediaType, base64: bytes.toString('base64') }],
  };
}

async function readText(source: Source, mark: Mark, request: Input, call: ToolCall): Promise<ToolResult> {
  const first = request.start_line ?? 1;
  if (request.end_line !== undefined && request.end_line < first) {
    return { text: `end_line ${request.end_line} is before start_line ${first}.`, isError: true };
  }
  const window = await readLineWindow(
    source.handle,
    mark,
    {
      first,
      last: Math.min(request.end_line ?? Infinity, first + maxLines - 1),
      maxBytes,
      lineOverhead: gutterBytes,
      maxLineLength,
      toEnd: source.size <= maxTrackedBytes,
    },
    call.signal,
  );
  if (window.digest === undefined) forget(call.session, source.real);
  else recordSeen(call.session, source.real, window.digest);
  if (window.total === 0) return { text: '(empty file)' };
  if (window.lines.length === 0) {
    return { text: `${source.given} has ${window.total === 1 ? '1 line' : `${window.total} lines`}; start_line ${first} is past its end.`, isError: true };
  }
  const shown = window.lines.map(({ number, text }) => `${String(number).padStart(6)}\t${text}`);
  return { text: [...shown, ...notes(window, mark, source.given)].join('\n') };
}

function notes(window: LineWindow, mark: Mark, given: string): string[] {
  const { lines, total } = window;
  const next = (lines.at(-1)?.number ?? 0) + 1;
  const found: string[] = [];
  const cut = lines.filter((line) => line.cutOf !== undefined);
  if (cut.length > 0) found.push(cutNote(cut, given));
  if (total === undefined) found.push(`(… more follows; call again with start_line ${next})`);
  else if (next <= total) found.push(`(… lines ${next}-${total} not shown; call again with start_line ${next})`);
  else if (window.openEnd) found.push('(no newline at the end of the file)');
  if (window.crlf > 0) found.push(`(${window.crlf >= lines.length - 1 ? 'lines' : `${window.crlf} of these lines`} end in CRLF; edits keep that)`);
  if (mark.encoding !== 'utf-8') found.push(`(${encodingLabel[mark.encoding]} file; edits keep that)`);
  if (!window.wellFormed) found.push('(not a UTF-8 file: each U+FFFD stands for bytes that cannot be shown; edits of ASCII text keep them)');
  return found;
}

function cutNote(cut: readonly WindowLine[], given: string): string {
  const [line] = cut;
  const which = cut.length === 1 ? `line ${line?.number}` : `lines ${cut.slice(0, 5).map(({ number }) => number).join(', ')}${cut.length > 5 ? ', …' : ''}`;
  const command = `sed -n '${line?.number}p' ${shellWord(given)} | cut -c${maxLineLength + 1}-${2 * maxLineLength}`;
  return `(${which} cut after ${maxLineLength} characters of ${byteSize(line?.cutOf ?? 0)}; see more with run_command: ${command})`;
}
