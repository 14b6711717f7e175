/**
 * Which starts of the agent are under way, and which died: one empty file each in `<state>/boots`, whose name says
 * all. A start makes its own and takes it away when it ends well, so that nobody has to agree with anybody: two agents
 * at once, and one that is killed between any two instructions, leave what is true.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, startTime } from '../kernel/lock-file.ts';
import { makeFolder } from '../kernel/paths.ts';

export interface Death {
  /** First word of the command line. */
  readonly command: string;
  /** When it was started, in milliseconds since the epoch. */
  readonly at: number;
}

/** A start of this process, until it has ended. */
export interface Boot {
  /** @param code exit code; of those that stand for a fault the start counts as one that died */
  ended(code: number): void;
}

interface Entry extends Death {
  readonly name: string;
  readonly pid: number;
  readonly started: string | undefined;
}

/** One that has lived for so long did not die of its start. */
const survivedMs = 60_000;
/** Answers, failures, usage errors, and the signals by which people and systems end a program: HUP, INT, QUIT, TERM. */
const wellMeant: ReadonlySet<number> = new Set([0, 1, 2, 3, 129, 130, 131, 143]);
const namePattern = /^(\d{1,15})\.(\d{1,10})\.(\d*)\.([a-z0-9-]{0,32})$/;

function bootsFolder(state: string): string {
  return join(state, 'boots');
}

/** The starts that died and that no later one of the same command made up for, oldest first. */
export function deadBoots(state: string): Death[] {
  return entriesOf(bootsFolder(state)).filter((entry) => !isAlive(entry));
}

/**
 * Notes that the agent starts. Should the process end in another way than through {@link Boot.ended} within a minute, it
 * died. A disk that cannot be written remembers nothing, and is no reason not to start.
 */
export function noteBoot(state: string, command: string, now = Date.now()): Boot {
  const folder = bootsFolder(state);
  const word = /^[a-z0-9-]{1,32}$/.test(command) ? command : '';
  const file = join(folder, `${now}.${process.pid}.${startTime(process.pid) ?? ''}.${word}`);
  try {
    write(file, folder);
  } catch {
    return { ended: () => undefined };
  }
  const lived = (): void => {
    rmSync(file, { force: true });
    // It worked: what died before it, of the same command, was no row. Another command may never have run what kills this one.
    for (const { name, command: other, at, ...process } of entriesOf(folder)) if (other === word && at < now && !isAlive(process)) rmSync(join(folder, name), { force: true });
  };
  const survived = setTimeout(lived, survivedMs);
  survived.unref();
  let over = false;
  return {
    ended(code) {
      if (over) return;
      over = true;
      clearTimeout(survived);
      if (wellMeant.has(code)) lived();
    },
  };
}

/** Forgets every start that died. */
export function forgetDeadBoots(state: string): void {
  const folder = bootsFolder(state);
  for (const entry of entriesOf(folder)) if (!isAlive(entry)) rmSync(join(folder, entry.name), { force: true });
}

function write(file: string, folder: string): void {
  try {
    writeFileSync(file, '', { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeFolder(folder);
    writeFileSync(file, '', { mode: 0o600 });
  }
}

function entriesOf(folder: string): Entry[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return []; // no start yet, or nothing that could be remembered
  }
  const entries = names.flatMap((name): Entry[] => {
    const [, at, pid, started, command = ''] = namePattern.exec(name) ?? [];
    return at === undefined ? [] : [{ name, at: Number(at), pid: Number(pid), started: started || undefined, command }];
  });
  return entries.sort((a, b) => a.at - b.at);
}
