/** How long the output of a command that exited is still waited for. */
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { StreamName } from './captured-output.ts';

/** Milliseconds without output after which what a command left behind is taken to be at rest. */
export const quiet = 100;
const longestQuiet = 1_000;

interface OutputListener {
  onOutput(stream: StreamName, bytes: Buffer): void;
  /** Nobody can write any more. */
  onClose(): void;
}

interface FollowedOutput {
  /** Resolves once the output closed, paused for 100 ms, or went on for 1 s; true when it closed. */
  settled(): Promise<boolean>;
}

/** Listens to a child's output, also after {@link FollowedOutput.settled} when it did not close. */
export function followOutput(child: ChildProcess, { onOutput, onClose }: OutputListener): FollowedOutput {
  let closed = false;
  let changed = (): void => undefined;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (bytes: Buffer) => {
      onOutput(name, bytes);
      changed();
    });
    // A pipe that breaks has ended; what it brought so far is the output.
    child[name]?.on('error', () => undefined);
  }
  child.once('close', () => {
    closed = true;
    onClose();
    changed();
  });

  return {
    async settled() {
      if (!closed) {
        await new Promise<void>((resolve) => {
          const done = (): void => {
            clearTimeout(longest);
            clearTimeout(pause);
            resolve();
          };
          const longest = setTimeout(done, longestQuiet);
          const pause = setTimeout(done, quiet);
          changed = () => {
            if (closed) done();
            else pause.refresh();
          };
        });
      }
      changed = () => undefined;
      if (!closed) keepDraining(child);
      return closed;
    },
  };
}

/** Reads on, so that a server left behind does not die of a broken pipe, but without keeping the agent alive for it. */
function keepDraining(child: ChildProcess): void {
  for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
}
