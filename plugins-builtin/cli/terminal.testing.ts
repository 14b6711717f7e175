/** Standard streams in memory, and the records of a run, for the tests of this folder. */
import { PassThrough, Writable } from 'node:stream';
import type { Event, EventData, EventType } from 'newt-agent';
import { createTerminal, type StandardStreams, type Terminal } from './terminal.ts';

interface TestTerminal {
  readonly terminal: Terminal;
  readonly streams: StandardStreams & { readonly stdin: PassThrough };
  stdout(): string;
  stderr(): string;
}

export interface TestStreams {
  readonly stdout?: 'terminal' | 'pipe';
  readonly stderr?: 'terminal' | 'pipe';
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What standard input says before it ends; it stays open and silent where there is none. */
  readonly input?: string;
  /** Standard output goes to a disk that is full. */
  readonly full?: boolean;
}

/** Without colour unless `env` says otherwise, so that the text is what is compared. */
export function testTerminal({ stdout = 'terminal', stderr = 'terminal', columns = 60, env = { NO_COLOR: '1' }, input, full = false }: TestStreams = {}): TestTerminal {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr', isTTY: boolean) =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _, done) {
          if (full && name === 'stdout') return done(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }));
          written[name] += chunk.toString();
          done();
        },
      }),
      { isTTY, columns },
    );
  const stdin = new PassThrough();
  if (input !== undefined) stdin.end(input);
  const streams = { stdin, stdout: stream('stdout', stdout === 'terminal'), stderr: stream('stderr', stderr === 'terminal'), env };
  return { terminal: createTerminal(streams), streams, stdout: () => written.stdout, stderr: () => written.stderr };
}

/** Gives records the envelope they have in the log; each is 100 ms after the one before. */
export function recordEvents(...records: readonly { readonly [Type in EventType]: readonly [Type, EventData<Type>] }[EventType][]): Event[] {
  return records.map(
    ([type, data], seq) => ({ v: 1, id: `e${seq}`, parent: seq === 0 ? null : `e${seq - 1}`, seq, t: 1_000 + seq * 100, session: 's', type, data }) as Event,
  );
}
