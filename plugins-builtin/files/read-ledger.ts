/** What the model has seen of each file in this session, so that a write over someone else's change is noticed. */
import { createHash } from 'node:crypto';
import type { ToolSession } from 'newt-agent';

/**
 * - `unread`: the session never saw the file's content
 * - `same`: the content is what the session last saw, whatever the modification time says
 * - `changed`: somebody else changed it since
 */
type Knowledge = 'unread' | 'same' | 'changed';

const memoryKey = 'files';

/** Notes that the model has seen, or itself written, the content with this digest. */
export function recordSeen(session: ToolSession, real: string, digest: string): void {
  ledgerOf(session).set(real, digest);
}

/** Forgets the file: its content was too large, or not text, and is not vouched for. */
export function forget(session: ToolSession, real: string): void {
  ledgerOf(session).delete(real);
}

/** Compares the content on disk with what the session last saw. */
export function knowledge(session: ToolSession, real: string, digest: string): Knowledge {
  const seen = ledgerOf(session).get(real);
  if (seen === undefined) return 'unread';
  return seen === digest ? 'same' : 'changed';
}

/** The digest by which contents are compared. */
export function contentDigest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function ledgerOf(session: ToolSession): Map<string, string> {
  const known = session.memory.get(memoryKey);
  if (known instanceof Map) return known as Map<string, string>;
  const fresh = new Map<string, string>();
  session.memory.set(memoryKey, fresh);
  return fresh;
}
