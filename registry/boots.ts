/**
 * Which starts of the agent are under way, and which died: one empty file each in `<state>/boots`, whose name says
 * all. A start makes its own and takes it away when it ends well, so that nobody has to agree with anybody: two agents
 * at once, and one that is killed between any two instructions, leave what is true.
 */
import { hash } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
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
  readonly host: string;
  readonly pid: number;
  readonly started: string | undefined;
}

/** One that has lived for so long did not die of its start. */
const survivedMs = 60_000;
/** Answers, failures, usage errors, and the signals by which people and systems end a program: HUP, INT, QUIT, TERM. */
const wellMeant: ReadonlySet<number> = new Set([0, 1, 2, 3, 129, 130, 131, 143]);
const namePattern = /^(\d{1,15})\.([0-9a-f]{8})\.(\d{1,10})\.(\d*)\.([a-z0-9-]{0,32})$/;

function bootsFolder(state: string): string {
  return join(state, 'boots');
}

/** The starts that died and that no later one of the same command made up for, oldest first. */
export function deadBoots(state: string, now = Date.now()): Death[] {
  return deadAmong(entriesOf(bootsFolder(state)), now);
}

/**
 * Notes that the agent starts. Should the process end in another way than through {@link Boot.ended} within a minute, it
 * died. A disk that cannot be written remembers nothing, and is no reason not to start.
 */
export function noteBoot(state: string, command: string, now = Date.now()): Boot {
  const folder = bootsFolder(state);
  const word = /^[a-z0-9-]{1,32}$/.test(command) ? command : '';
  const file = join(folder, `${now}.${thisHost()}.${process.pid}.${startTime(process.pid) ?? ''}.${word}`);
  try {
    write(file, folder);
  } catch {
    return { ended: () => undefined };
  }
  const lived = (): void => {
    rmSync(file, { force: true });
    // It worked: what died before it, of the same command, was no row. Another command may never have run what kills this one.
    for (const { name } of deadAmong(entriesOf(folder), Date.now()).filter(({ command: other, at }) => other === word && at < now)) rmSync(join(folder, name), { force: true });
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
  for (const { name } of deadAmong(entriesOf(folder), Date.now())) rmSync(join(folder, name), { force: true });
}

/** Of another machine or container that has the same home, only its age tells: one that lives takes its file away in time. */
function deadAmong(entries: readonly Entry[], now: number): Entry[] {
  const here = thisHost();
  return entries.filter((entry) => (entry.host === here ? !isAlive(entry) : entry.at < now - 2 * survivedMs));
}

function thisHost(): string {
  return hash('sha256', hostname()).slice(0, 8);
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
    const [, at, host = '', pid, started, command = ''] = namePattern.exec(name) ?? [];
    return at === undefined ? [] : [{ name, at: Number(at), host, pid: Number(pid), started: started || undefined, command }];
  });
  return entries.sort((a, b) => a.at - b.at);
}
