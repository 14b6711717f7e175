/** The tool call a session was in the middle of when its process ended without a word. */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { type Event, holdLock } from 'newt-agent';

/** Enough for the records since the last call, unless its arguments are huge; then nobody is blamed. */
const tailBytes = 256_000;

export interface OpenCall {
  readonly tool: string;
  /** Of the process that made it; undefined where its lock does not tell. */
  readonly pid: number | undefined;
}

/** The tool that was called and never answered; undefined for a log that was closed, or is still written. */
export function openCall(file: string): OpenCall | undefined {
  // The lock of a dead process stays behind; that of one that ended well does not. It is taken away: told once.
  if (!existsSync(`${file}.lock`)) return undefined;
  let pid: number | undefined;
  try {
    pid = pidIn(`${file}.lock`);
    holdLock(`${file}.lock`, file)();
  } catch {
    return undefined; // somebody is at it
  }
  const open = new Map<string, string>();
  for (const { type, data } of tail(file)) {
    if (type === 'session' || type === 'stop') open.clear();
    else if (type === 'tool.call') open.set(data.call, targetOf(data));
    else if (type === 'tool.result') open.delete(data.call);
  }
  const tool = [...open.values()].at(-1);
  return tool === undefined ? undefined : { tool, pid };
}

function pidIn(lock: string): number | undefined {
  try {
    const { pid } = JSON.parse(readFileSync(lock, 'utf8')) as { pid?: unknown };
    return typeof pid === 'number' ? pid : undefined;
  } catch {
    return undefined; // what is no claim is held by nobody
  }
}

/** Behind `use_tool` stands the tool that was meant. */
function targetOf({ name, input }: Extract<Event, { type: 'tool.call' }>['data']): string {
  const meant = name === 'use_tool' && typeof input === 'object' && input !== null && !Array.isArray(input) ? input['name'] : undefined;
  return typeof meant === 'string' ? meant : name;
}

/** The last records; what is torn is left out. */
function tail(file: string): Event[] {
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, tailBytes));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8').split('\n').flatMap((line) => parsed(line));
  } finally {
    closeSync(fd);
  }
}

function parsed(line: string): Event[] {
  try {
    const event = JSON.parse(line) as Event;
    return typeof event?.type === 'string' ? [event] : [];
  } catch {
    return [];
  }
}
