/** `p.fetch`: no request waits for ever, and none outlives its plugin. */
import { shownAddress } from './address.ts';
import { OperationalError } from './heal/fault.ts';
import { setTimeout } from './heal/own-timers.ts';

const patience = 5 * 60_000;

/**
 * `fetch` with every failure an `OperationalError`, except the caller's own abort. An answer must begin within
 * `deadline` milliseconds. How long it may then go on is up to the caller's signal; without one, the deadline
 * is for all of it: a stream may well take longer, but somebody must be able to end it.
 *
 * @param life aborted when the plugin ends
 */
export async function fetchFor(life: AbortSignal, url: string | URL, init: RequestInit = {}, deadline = patience): Promise<Response> {
  const given = init.signal ?? undefined;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), deadline);
  timer.unref();
  try {
    return await fetch(url, { ...init, signal: AbortSignal.any([life, late.signal, ...(given ? [given] : [])]) });
  } catch (error) {
    if (given?.aborted) throw error;
    const { code, message } = ((error as Error).cause ?? error) as { code?: string; message?: string };
    const shown = shownAddress(String(url));
    const own = life.aborted ? 'the plugin has ended' : late.signal.aborted ? `no answer within ${deadline / 1_000} s` : undefined;
    const why = own ?? (message?.replaceAll(String(url), () => shown) || code || 'no answer');
    throw new OperationalError(`could not reach ${shown}: ${why}`, { code }, { cause: error });
  } finally {
    if (given) clearTimeout(timer);
  }
}
