/** Who is alive, read from Linux' `/proc`; on other systems the answers are empty. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessEntry {
  readonly pid: number;
  /** Process group. */
  readonly group: number;
}

const isLinux = process.platform === 'linux';

/** The processes of a group, without the dead that nobody has waited for. `undefined` where it cannot be known. */
export function groupMembers(group: number): ProcessEntry[] | undefined {
  return isLinux ? processes().filter((entry) => entry.group === group) : undefined;
}

/** What descriptors 1 and 2 of a process lead to, as names that stay valid when it has ended. */
export function outputEnds(pid: number): string[] {
  return isLinux ? [1, 2].map((descriptor) => linkTarget(`/proc/${pid}/fd/${descriptor}`)).filter((end) => end !== undefined) : [];
}

/** The processes that hold one of `ends` open, in whatever group or session they are. */
export function holdersOf(ends: readonly string[]): ProcessEntry[] {
  if (ends.length === 0) return [];
  return processes().filter(({ pid }) => descriptors(pid).some((descriptor) => ends.includes(linkTarget(`/proc/${pid}/fd/${descriptor}`) ?? '')));
}

function processes(): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => entryOf(Number(name)))
    .filter((entry) => entry !== undefined);
}

function entryOf(pid: number): ProcessEntry | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // `pid (name) state parent group …`: the name may hold spaces and parentheses.
    const [state, , group] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : { pid, group: Number(group) };
  } catch {
    // It ended since the folder was listed.
    return undefined;
  }
}

function descriptors(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}

function linkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
