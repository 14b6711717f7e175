/** Asks a server which models it has. */
import { type Endpoint, type Fetch, urlAt } from './endpoints.ts';

/** Milliseconds a list is waited for where it would only make a message better. */
export const listDeadline = 2_000;

/**
 * Ids that `GET /models` answers, or undefined when it gives no list within `deadline` milliseconds.
 * Never throws: the list only serves suggestions and discovery.
 */
export async function listModels(endpoint: Pick<Endpoint, 'baseUrl' | 'query' | 'apiKey' | 'headers'>, fetch: Fetch, deadline: number): Promise<string[] | undefined> {
  const authorization: Record<string, string> = endpoint.apiKey ? { authorization: `Bearer ${endpoint.apiKey}` } : {};
  try {
    const response = await fetch(urlAt(endpoint, '/models'), {
      headers: { ...authorization, ...endpoint.headers },
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
