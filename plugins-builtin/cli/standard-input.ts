/** Standard input as part of what a person says. */
import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { configurationError } from 'newt-agent';

export type InputStream = Readable & { readonly isTTY?: boolean; readonly fd?: number; setRawMode?(on: boolean): unknown; unref?(): unknown };

export const maxInputBytes = 10_000_000;

/**
 * How long a silent standard input is waited for when the task does not depend on it, in milliseconds.
 * A parent process often passes on a pipe it never writes to nor closes. Shells make pipelines of FIFOs,
 * where the program in front may need a moment; a socket comes from a program that started this one.
 */
export function patienceWith(stream: InputStream): number {
  try {
    const stat = fstatSync(stream.fd ?? 0);
    return stat.isFIFO() ? 3_000 : stat.isSocket() ? 200 : Infinity;
  } catch {
    return 0;
  }
}

/**
 * Everything `stream` has to say, as UTF-8. Undefined when it has not begun after `patience`
 * milliseconds; once it has begun it is read to its end.
 *
 * @throws OperationalError when it cannot be read or is larger than 10 MB
 */
export function readAll(stream: InputStream, patience: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const timer = Number.isFinite(patience) ? setTimeout(() => finish(() => resolve(undefined)), patience) : undefined;
    const onData = (chunk: Buffer | string): void => {
      clearTimeout(timer);
      const bytes = Buffer.from(chunk as string);
      size += bytes.length;
      chunks.push(bytes);
      if (size > maxInputBytes) {
        finish(() => reject(configurationError('standard input is larger than 10 MB', 'put it in a file and name the file in the task')));
      }
    };
    const onEnd = (): void => finish(() => resolve(new TextDecoder().decode(Buffer.concat(chunks))));
    const onError = (error: Error): void => {
      finish(() => reject(configurationError(`standard input cannot be read: ${error.message}`, undefined, { cause: error })));
    };
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      stream.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError);
      // What is not read any more must not keep the process alive, nor end it with an error nobody hears.
      stream.on('error', () => undefined);
      stream.pause();
      stream.unref?.();
      settle();
    };
    if (stream.readableEnded || stream.destroyed) return finish(() => resolve(''));
    stream.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError);
  });
}
