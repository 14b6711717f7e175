/** One request to a registry, bounded in every direction: time, bytes, and where it may lead. */
import tls from 'node:tls';
import { OperationalError } from 'newt-agent';

export interface Bounds {
  /** Seconds for the whole answer. */
  readonly timeout: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Nothing came, or it broke off: what is cached may do instead. An answer that says no is not of this kind. */
export class Unreachable extends Error {}

const maxRedirects = 3;

/**
 * The body of `url`. Redirects are followed on the same host alone: a registry does not send us elsewhere.
 *
 * @returns undefined where the registry has no such thing (404)
 * @throws Unreachable; OperationalError for any other answer; the reason of `signal`
 */
export async function download(url: string, accept: string, bounds: Bounds): Promise<Buffer | undefined> {
  const { timeout, signal } = bounds;
  const limit = AbortSignal.timeout(timeout * 1_000);
  try {
    return await follow(url, accept, bounds, AbortSignal.any([signal, limit]));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OperationalError) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const problem = limit.aborted ? `gave no whole answer within ${timeout} s` : `cannot be reached: ${cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : String(cause)}`;
    throw new Unreachable(`${new URL(url).host} ${problem}`, { cause: error });
  }
}

let trustsSystem = false;

/** A company's network shows certificates that this machine trusts and Node's own list does not have: npm of the system works there. */
function trustSystem(): void {
  if (trustsSystem) return;
  trustsSystem = true;
  const own = tls as typeof tls & { setDefaultCACertificates?: (certificates: readonly string[]) => void };
  own.setDefaultCACertificates?.([...new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])]);
}

async function follow(start: string, accept: string, { maxBytes }: Bounds, signal: AbortSignal): Promise<Buffer | undefined> {
  let url = start;
  if (url.startsWith('https:')) trustSystem();
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    // As it lies there: what is unpacked on the way has another digest.
    const answer = await fetch(url, { redirect: 'manual', signal, headers: { accept, 'accept-encoding': accept.includes('json') ? 'gzip' : 'identity', 'user-agent': 'newt-agent' } });
    const place = answer.headers.get('location');
    if (answer.status >= 300 && answer.status < 400 && place !== null) {
      await answer.body?.cancel();
      const next = new URL(place, url);
      const from = new URL(url);
      if (next.host !== from.host || next.protocol !== from.protocol) throw news(`${from.host} sends us to ${next.host}, which is not the registry`, 'set install.registry to the registry that has it');
      url = next.href;
      continue;
    }
    if (answer.status === 404) {
      await answer.body?.cancel();
      return undefined;
    }
    if (answer.status === 401 || answer.status === 403) throw news(`${new URL(url).host} wants to know who asks (${answer.status})`, 'no token is ever sent; install.registry may name a registry that needs none');
    if (answer.status >= 500) throw new Unreachable(`${new URL(url).host} answers ${answer.status}`);
    if (!answer.ok) throw news(`${new URL(url).host} answers ${answer.status} to ${new URL(url).pathname}`);
    return read(answer, url, maxBytes);
  }
  throw news(`${new URL(start).host} redirects without end`);
}

async function read({ body }: Response, url: string, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  if (body === null) return Buffer.alloc(0);
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw news(`${new URL(url).pathname} is larger than ${Math.round(maxBytes / 1e6)} MB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}

function news(problem: string, hint?: string): OperationalError {
  return new OperationalError(problem, hint === undefined ? {} : { hint });
}
