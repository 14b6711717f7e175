/** Finding the session to go on with. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Event, readEventLog } from 'newt-agent';

/**
 * Folder of the event logs of a workspace, by a name that tells a person which one it is, and no other has.
 * @param cwd real path of the workspace
 */
export function sessionsFolder(state: string, cwd: string): string {
  const readable = cwd.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '').slice(-100) || 'root';
  return join(state, 'sessions', `${readable}-${hash('sha256', cwd).slice(0, 8)}`);
}

/** The event log in `folder` that was written to last; undefined when there is none. */
export function latestLog(folder: string): string | undefined {
  let newest: { readonly file: string; readonly at: number } | undefined;
  for (const name of logsIn(folder)) {
    const file = join(folder, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    // One that was never written to is no session; what is no file would wait for ever, or is none either.
    if (stat?.isFile() && stat.size > 0 && (newest === undefined || stat.mtimeMs > newest.at)) newest = { file, at: stat.mtimeMs };
  }
  return newest?.file;
}

/** The model a session used last. A scripted one belongs to the tour alone. */
export function modelOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined; // said by whoever opens it
  const session = readEventLog(file).events.findLast((event): event is Extract<Event, { type: 'session' }> => event.type === 'session');
  return session && !session.data.scripted && typeof session.data.model === 'string' ? session.data.model : undefined;
}

function logsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  } catch (error) {
    // Not there, or not a folder: whoever makes it says so.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
