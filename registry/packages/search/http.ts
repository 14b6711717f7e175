/** One request to a service: bounded in time, size and redirects, and every failure with a next step. */
import { isOperational, oneLine, OperationalError, type PluginContext } from 'newt-agent';
import type { HttpAnswer, HttpRequest, Provider } from './provider.ts';

const maxBytes = 2_000_000;
const maxRedirects = 3;
const shownBody = 200;

export type Fetch = PluginContext['fetch'];

/**
 * Asks the service of `provider`.
 *
 * @param seconds for the whole answer
 * @throws OperationalError; or the reason of `signal`, once it is aborted
 */
export async function askService(fetch: Fetch, provider: Provider, request: HttpRequest, seconds: number, signal: AbortSignal): Promise<HttpAnswer> {
  const late = AbortSignal.timeout(seconds * 1_000);
  try {
    const response = await follow(fetch, provider, request, AbortSignal.any([signal, late]));
    const answer = { status: response.status, body: await readBounded(response, provider) };
    refuseStatus(answer, response.headers, provider);
    return answer;
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw new OperationalError(`${provider.name} did not answer within ${seconds} s. Try again, or choose another provider.`);
    if (isOperational(error)) throw new OperationalError(withoutKey(error.message, provider));
    // The connection ended within the answer.
    throw new OperationalError(`${provider.name} broke off its answer (${oneLine(withoutKey((error as Error).message, provider), 100)}). Try again.`);
  }
}

/** Follows redirects within the service alone: a key must not go where nobody sent it. */
async function follow(fetch: Fetch, provider: Provider, { url, method = 'GET', headers, body }: HttpRequest, signal: AbortSignal): Promise<Response> {
  let at = new URL(url);
  for (let turn = 0; turn <= maxRedirects; turn += 1) {
    const response = await fetch(at, { method, headers: { accept: 'application/json, text/html', ...headers }, ...(body !== undefined && { body }), redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, at.href);
    if (next?.origin !== at.origin) throw new OperationalError(`${provider.name} sends the search on to ${next?.host ?? 'an address that is none'}, which is not followed. If it has moved, set its new address: agent config set plugins.config.search.base_urls.${provider.name.toLowerCase()} <url>`);
    at = next;
  }
  throw new OperationalError(`${provider.name} sends the search round in a circle. Check its address.`);
}

async function readBounded(response: Response, provider: Provider): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the rest.
    if (size > maxBytes) throw new OperationalError(`${provider.name} answered more than ${maxBytes / 1_000_000} MB, which is no list of results. Check its address.`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function refuseStatus({ status, body }: HttpAnswer, headers: Headers, provider: Provider): void {
  if (status < 400) return;
  const { name, refusedHint } = provider;
  if (status === 401 || status === 403) throw new OperationalError(`${name} refuses the search (${status}). ${refusedHint}`);
  if (status === 429 || status === 432) throw new OperationalError(`${name} takes no more searches for now (${status}).${retryAfter(headers)} Wait, or choose another provider.`);
  const isPage = /^\s*</.test(body);
  const said = isPage ? 'an error page' : oneLine(withoutKey(messageIn(body), provider), shownBody) || 'no reason given';
  throw new OperationalError(`${name} failed (${status}: ${said}). ${status >= 500 ? 'Try again later, or choose another provider.' : 'Check the query, and the address of the service.'}`);
}

/** The words of an error in JSON, as most services have them; else the body. */
function messageIn(body: string): string {
  try {
    const { error, message, detail } = JSON.parse(body) as Record<string, unknown>;
    const said = [error, message, detail].find((one) => one !== undefined);
    if (typeof said === 'string') return said;
    return JSON.stringify(said) ?? body;
  } catch {
    return body;
  }
}

function retryAfter(headers: Headers): string {
  const value = headers.get('retry-after')?.trim();
  if (!value) return '';
  const seconds = /^\d{1,7}$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1_000);
  return Number.isFinite(seconds) && seconds > 0 ? ` It asks to wait ${seconds} s.` : '';
}

/** Services repeat what they were sent, in one encoding or another. */
export function withoutKey(text: string, { key }: Pick<Provider, 'key'>): string {
  if (!key) return text;
  return [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)].reduce((shown, form) => shown.replaceAll(form, '[key]'), text);
}

/** The JSON of an answer. @throws OperationalError when it is none, or not of the kind that `take` knows */
export function jsonAnswer<T>({ body }: HttpAnswer, name: string, take: (value: unknown) => T | undefined): T {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new OperationalError(`${name} answered ${/^\s*</.test(body) ? 'a page' : 'something'} instead of JSON. Check its address, or choose another provider.`);
  }
  const taken = take(value);
  if (taken === undefined) throw new OperationalError(`${name} answered JSON that is no list of results. Check its address; perhaps the service changed.`);
  return taken;
}
