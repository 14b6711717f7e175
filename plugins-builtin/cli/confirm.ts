/** A yes-or-no question on the terminal. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReadStream } from 'node:tty';
import { type Output, outputTo } from './output.ts';
import type { InputStream } from './standard-input.ts';

/** Where a question is shown and its answer typed: always the same terminal, whatever is redirected. */
interface QuestionTerminal {
  readonly input: Readable & { setRawMode?(on: boolean): unknown };
  write(text: string): void;
  close(): void;
}

/** What was typed before a person could have read the question is no answer to it, in milliseconds. */
const typeAhead = 300;
const maxTries = 3;
const interrupt = 0x03;

/** Asks the person at the terminal of this process; undefined where there is none. For before the plugins are up. */
export function confirmOnTerminal(question: string, signal?: AbortSignal): Promise<boolean | undefined> {
  const outputs = [process.stderr, process.stdout].map((stream) => outputTo(stream, () => undefined));
  return confirm(question, process.stdin, outputs, signal);
}

/**
 * Shows `question` and reads the answer: `y` or `yes`, else no. False at the end of input; undefined
 * when nobody can be asked or `signal` ends the waiting.
 *
 * @param outputs where the question may be shown if it is a terminal, the first choice first
 */
export async function confirm(question: string, stdin: InputStream, outputs: readonly Output[], signal?: AbortSignal): Promise<boolean | undefined> {
  const terminal = openTerminal(stdin, outputs.find((output) => output.isTerminal));
  if (!terminal) return undefined;
  try {
    return await askYesOrNo(question, terminal, signal);
  } finally {
    terminal.close();
  }
}

function openTerminal(stdin: InputStream, shown: Output | undefined): QuestionTerminal | undefined {
  if (stdin.isTTY && shown && !stdin.readableEnded && !stdin.destroyed) {
    return { input: stdin, write: (text) => shown.write(text), close: () => void stdin.pause() };
  }
  let writing: number | undefined;
  try {
    writing = openSync('/dev/tty', 'w');
    const fd = writing;
    // Its own descriptor: reading switches to non-blocking, where a write could fail half way.
    const input = new ReadStream(openSync('/dev/tty', 'r+'));
    const close = (): void => {
      input.destroy();
      closeSync(fd);
    };
    const write = (text: string): void => {
      try {
        writeSync(fd, text);
      } catch {
        // The terminal was hung up, which ends the reading as well.
      }
    };
    return { input, write, close };
  } catch {
    if (writing !== undefined) closeSync(writing);
    return undefined;
  }
}

/**
 * {@link confirm} on an open terminal. The line is edited by the terminal itself, so that Ctrl-C and
 * Ctrl-Z mean what they always do, and there is no state to restore.
 */
export async function askYesOrNo(question: string, terminal: QuestionTerminal, signal?: AbortSignal): Promise<boolean | undefined> {
  if (signal?.aborted) return undefined;
  await discardTypeAhead(terminal, signal);
  terminal.write(`${question} [y/N] `);
  for (let tries = 1; ; tries += 1) {
    const line = await readLine(terminal.input, signal);
    if (line === undefined || signal?.aborted) {
      terminal.write('\n');
      return signal?.aborted ? undefined : false;
    }
    const answer = line.trim().toLowerCase();
    if (answer === 'y' || answer === 'yes') return true;
    if (answer === '' || answer === 'n' || answer === 'no' || tries === maxTries) return false;
    terminal.write('Please answer y or n: ');
  }
}

async function discardTypeAhead({ input }: QuestionTerminal, signal?: AbortSignal): Promise<void> {
  // Only raw mode lets a line be read that was begun and not ended.
  if (!input.setRawMode) return;
  let interrupted = false;
  const onData = (chunk: Buffer | string): void => {
    interrupted ||= Buffer.from(chunk as string).includes(interrupt);
  };
  input.setRawMode(true);
  input.on('data', onData);
  await sleep(typeAhead, undefined, { signal }).catch(() => undefined);
  input.off('data', onData).pause();
  input.setRawMode(false);
  // In raw mode the terminal does not make a signal of it.
  if (interrupted) process.kill(process.pid, 'SIGINT');
}

/** One line; undefined at the end of input and when `signal` is aborted. */
function readLine(input: Readable, signal?: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const onData = (chunk: Buffer | string): void => {
      text += chunk.toString();
      if (text.includes('\n')) finish(text.slice(0, text.indexOf('\n')));
    };
    const stop = (): void => finish(undefined);
    const finish = (line: string | undefined): void => {
      input.off('data', onData).off('end', stop).off('close', stop).off('error', stop);
      signal?.removeEventListener('abort', stop);
      input.pause();
      resolve(line);
    };
    if (signal?.aborted || input.destroyed || input.readableEnded) return resolve(undefined);
    signal?.addEventListener('abort', stop, { once: true });
    input.on('data', onData).on('end', stop).on('close', stop).on('error', stop);
    input.resume();
  });
}
