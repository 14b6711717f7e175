/** Requests to a model's server carry its key and the conversation: they go where the person said, and nowhere else. */
import { OperationalError } from 'newt-agent';
import { type Fetch, shownUrl } from './endpoints.ts';

/** `fetch` that takes a redirect for a failure, and says where it would have led. */
export function withoutRedirects(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'manual' });
    if (response.status < 300 || response.status > 399 || response.status === 304) return response;
    await response.body?.cancel();
    const target = targetOf(response.headers.get('location'), url);
    throw new OperationalError(`${shownUrl(String(url))} answered with a redirect${target === undefined ? '' : ` to ${target}`}, which is not followed: it would carry your key and the conversation along`, {
      kind: 'configuration',
      hint: 'if that is where the model is, set its base_url to it',
    });
  };
}

function targetOf(location: string | null, base: string | URL): string | undefined {
  try {
    return location === null ? undefined : shownUrl(String(new URL(location, base)));
  } catch {
    return undefined;
  }
}
