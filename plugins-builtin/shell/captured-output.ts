/** Everything a command writes: shown live, kept in bounded memory, and whole on disk once it is large. */
import { boundedText } from './bounded-text.ts';
import { liveOutput } from './live-output.ts';
import { textStream } from './output-text.ts';
import { type SpillFile, spillFile } from './spill-file.ts';

export type StreamName = 'stdout' | 'stderr';

export interface CapturedOutput {
  /** Bytes in the order in which they arrive. */
  push(stream: StreamName, bytes: Buffer): void;
  /** Ends the text; bytes that come later go to the file alone. */
  finish(): void;
  /** Sees to it that there is a file, for a command whose processes go on writing. */
  keepFile(): SpillFile;
  close(): void;
  readonly text: string;
  readonly bytes: number;
  readonly file: SpillFile | undefined;
}

const headBytes = 20_000;
const tailBytes = 30_000;
const maxFileBytes = 100_000_000;

/** @param show gets text for the person while the command runs. */
export function captureOutput(folder: string, fileName: string, show: (text: string) => void): CapturedOutput {
  const live = liveOutput(show);
  const kept = boundedText(headBytes, tailBytes);
  const streams = { stdout: textStream(), stderr: textStream() };
  let file: SpillFile | undefined;
  /** The bytes so far, until there is a file for them. */
  let unwritten: Buffer[] = [];
  let bytes = 0;
  let finished = false;

  const keepFile = (): SpillFile => {
    if (file) return file;
    file = spillFile(folder, fileName, maxFileBytes);
    for (const chunk of unwritten) file.write(chunk);
    unwritten = [];
    return file;
  };
  const add = (text: string): void => {
    kept.push(text);
    live.push(text);
  };

  return {
    push(stream, chunk) {
      bytes += chunk.length;
      if (file) file.write(chunk);
      else unwritten.push(chunk);
      if (!finished) add(streams[stream].push(chunk));
      // What is not UTF-8 grows as text, so the text may be cut where the bytes would have fitted.
      if (bytes > headBytes + tailBytes || kept.truncated) keepFile();
    },
    finish() {
      if (finished) return;
      finished = true;
      add(streams.stdout.end());
      add(streams.stderr.end());
      if (kept.truncated) keepFile();
      live.end();
    },
    keepFile,
    close: () => file?.close(),
    get text() {
      return kept.toString();
    },
    get bytes() {
      return bytes;
    },
    get file() {
      return file;
    },
  };
}
