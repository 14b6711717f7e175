/** Reading an event log back. */
import { readFileSync } from 'node:fs';
import type { Event } from './events.ts';

interface ReadLog {
  readonly events: readonly Event[];
  /** What follows the last whole record: the trace of a crash in the middle of a write. */
  readonly torn: string;
}

/**
 * All whole records, in order. The file is never changed: whoever goes on with a torn log writes its
 * whole records to a copy first.
 */
export function readEventLog(file: string): ReadLog {
  const text = readFileSync(file, 'utf8');
  const events: Event[] = [];
  let offset = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', offset)) {
    const event = parse(text.slice(offset, end));
    if (!event || event.seq !== events.length) break;
    events.push(event);
    offset = end + 1;
  }
  return { events, torn: text.slice(offset) };
}

function parse(line: string): Event | undefined {
  try {
    const event = JSON.parse(line) as Partial<Event>;
    return event.v === 1 && typeof event.type === 'string' ? (event as Event) : undefined;
  } catch {
    return undefined;
  }
}
