/** Asks a server which models it has. */
import { type Endpoint, type Fetch, keyHeaders, urlAt } from './endpoints.ts';

/** Milliseconds a list is waited for where it would only make a message better. */
export const listDeadline = 2_000;

/**
 * Ids that `GET /models` answers, or undefined when it gives no list within `deadline` milliseconds.
 * Never throws: the list only serves suggestions and discovery.
 */
export async function listModels(endpoint: Pick<Endpoint, 'baseUrl' | 'query' | 'apiKey' | 'headers' | 'wire'>, fetch: Fetch, deadline: number): Promise<string[] | undefined> {
  // Anthropic lists twenty at a time unless it is asked for more.
  const all = endpoint.wire === 'anthropic' ? { ...endpoint, query: `${endpoint.query || '?'}${endpoint.query ? '&' : ''}limit=1000` } : endpoint;
  try {
    const response = await fetch(urlAt(all, '/models'), {
      headers: { ...keyHeaders(endpoint), ...endpoint.headers },
      signal: AbortSignal.timeout(deadline),
    });
    if (response.ok) return idsOf(await response.json());
    await response.body?.cancel();
  } catch {
    // No server, no JSON or no time: no list.
  }
  return undefined;
}

/** The ids of an answer to `GET /models`; undefined for anything else. */
export function idsOf(answer: unknown): string[] | undefined {
  if (typeof answer !== 'object' || answer === null || !('data' in answer) || !Array.isArray(answer.data)) return undefined;
  return answer.data.flatMap((model: unknown) =>
    typeof model === 'object' && model !== null && 'id' in model && typeof model.id === 'string' ? [model.id] : [],
  );
}
