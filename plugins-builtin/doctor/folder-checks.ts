/** The folders of this user's agent: whether they can be written, who else can, and whether there is room. */
import { accessSync, constants, existsSync, statfsSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Check, describeError, type Finding, type KernelControl, shellWord, shortPath } from 'newt-agent';

type Paths = KernelControl['paths'];

const othersWrite = 0o022;
const othersRead = 0o044;
const megabyte = 1_000_000;
const tooLittle = 20 * megabyte;
const little = 500 * megabyte;

export function foldersCheck(paths: () => Paths): Check {
  return { description: 'folders', run: () => folderFindings(paths()) };
}

export function folderFindings(paths: Paths): Finding[] {
  const wrong = Object.entries(paths).flatMap(([name, folder]: [string, string]) => [...writable(name, folder), ...exposed(name, folder)]);
  const config = join(paths.config, 'config.yaml');
  const findings = [...wrong, ...readable(config)];
  return findings.length > 0 ? findings : [{ level: 'ok', what: 'folders', detail: `${Object.values(paths).map((folder: string) => shortPath(folder)).join(', ')} can be written, by you alone` }];
}

function writable(name: string, folder: string): Finding[] {
  const standing = nearestExisting(folder);
  const there = existsSync(folder) ? shortPath(folder) : `${shortPath(folder)} cannot be made: ${shortPath(standing)}`;
  const fix = 'correct its owner and permissions, or set AGENT_HOME to a folder that is yours';
  const stat = statusOf(standing);
  if (stat && !stat.isDirectory()) return [{ level: 'error', what: `${name} folder`, detail: `${there} is not a folder`, fix: 'move that file away, or set AGENT_HOME to a folder that is yours' }];
  try {
    accessSync(standing, constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    return [{ level: 'error', what: `${name} folder`, detail: `${there} cannot be written: ${describeError(error)}`, fix }];
  }
}

/** What lies in there is run, or believed: nobody else may put it there. */
function exposed(name: string, folder: string): Finding[] {
  const stat = statusOf(folder);
  if (!stat || process.platform === 'win32') return [];
  const own = process.getuid?.();
  if (own !== undefined && stat.uid !== own) return [{ level: own === 0 ? 'info' : 'warn', what: `${name} folder`, detail: `${shortPath(folder)} belongs to another user (${stat.uid})` }];
  if ((stat.mode & othersWrite) === 0) return [];
  return [{ level: 'error', what: `${name} folder`, detail: `others can write to ${shortPath(folder)}, and so run code as you`, fix: `chmod go-w ${shellWord(folder)}` }];
}

function readable(file: string): Finding[] {
  const stat = statusOf(file);
  if (!stat || process.platform === 'win32' || (stat.mode & othersRead) === 0) return [];
  return [{ level: 'info', what: 'config file', detail: `others can read ${shortPath(file)}: keep keys out of it, or close it`, fix: `chmod 600 ${shellWord(file)}` }];
}

/** @param folder where most is written */
export function diskCheck(folder: () => string): Check {
  return {
    description: 'disk space',
    run() {
      const { bavail, bsize } = statfsSync(nearestExisting(folder()));
      return [diskFinding(bavail * bsize, shortPath(folder()))];
    },
  };
}

/** @param free bytes */
export function diskFinding(free: number, place: string): Finding {
  const detail = `${free >= 1_000 * megabyte ? `${(free / 1_000 / megabyte).toFixed(1)} GB` : `${Math.floor(free / megabyte)} MB`} free for ${place}`;
  if (free >= little) return { level: 'ok', what: 'disk', detail };
  return { level: free < tooLittle ? 'error' : 'warn', what: 'disk', detail, fix: 'make room, or set AGENT_HOME to a folder on another disk' };
}

function nearestExisting(path: string): string {
  let standing = path;
  while (!existsSync(standing) && dirname(standing) !== standing) standing = dirname(standing);
  return standing;
}

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined; // Not there, or beyond a file: that is told elsewhere.
  }
}
