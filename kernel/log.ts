/** What a plugin writes for its author: a bounded file per plugin, never the terminal. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { oneLine } from './heal/fault.ts';
import { makeFolder } from './paths.ts';

export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export type LogLevel = keyof Logger;

const maxFileBytes = 1_000_000;
const maxLineChars = 2_000;
const windowMs = 1_000;
const maxLinesPerWindow = 1_000;

/**
 * Writes to `file`, which is started anew at 1 MB (the previous one is kept as `.old`). Above 1,000
 * lines a second the rest is dropped and `onFlood` is told once per window.
 */
export class PluginLog implements Logger {
  readonly #file: string;
  readonly #onFlood: (dropped: string) => void;
  readonly #now: () => number;
  #windowStart = 0;
  #lines = 0;
  #size = -1;

  constructor(file: string, now: () => number, onFlood: (message: string) => void) {
    this.#file = file;
    this.#now = now;
    this.#onFlood = onFlood;
  }

  debug(message: string): void {
    this.write('debug', message);
  }
  info(message: string): void {
    this.write('info', message);
  }
  warn(message: string): void {
    this.write('warn', message);
  }
  error(message: string): void {
    this.write('error', message);
  }

  write(level: LogLevel, message: string): void {
    const now = this.#now();
    if (now - this.#windowStart >= windowMs) {
      this.#windowStart = now;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines > maxLinesPerWindow) {
      if (this.#lines === maxLinesPerWindow + 1) this.#onFlood(`wrote more than ${maxLinesPerWindow} log lines in a second; the rest was dropped`);
      return;
    }
    this.#append(`${new Date(now).toISOString()} ${level} ${oneLine(String(message), maxLineChars)}\n`);
  }

  #append(line: string): void {
    try {
      if (this.#size < 0) {
        makeFolder(dirname(this.#file));
        this.#size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
      }
      if (this.#size > maxFileBytes) {
        renameSync(this.#file, `${this.#file}.old`);
        this.#size = 0;
      }
      appendFileSync(this.#file, line, { mode: 0o600 });
      this.#size += Buffer.byteLength(line);
    } catch {
      // A log that cannot be written (full or read-only disk) must not become a fault of its own.
    }
  }
}
