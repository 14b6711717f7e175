/** DuckDuckGo's page for browsers without scripts. It needs no key, and asks for a person when it is used a lot. */
import { OperationalError } from 'newt-agent';
import { type Element, hasClass, type Page, parsePage, textOf, withClass } from '../html.ts';
import { type Provider, type ProviderOptions, type RawResult, type Recency, withSite } from '../provider.ts';

const spans: Readonly<Record<Recency, string>> = { day: 'd', week: 'w', month: 'm', year: 'y' };
const otherProviders = 'Wait some minutes, or set up a provider with a key (TAVILY_API_KEY, BRAVE_API_KEY or SERPAPI_API_KEY) or a SearXNG server.';

export function duckDuckGo({ base }: ProviderOptions): Provider {
  return {
    name: 'DuckDuckGo',
    refusedHint: `It does so when it is asked too often. ${otherProviders}`,
    request(search) {
      const query = new URLSearchParams({ q: withSite(search), kl: 'wt-wt', ...(search.recency && { df: spans[search.recency] }) });
      return { url: `${base}/html/?${query}`, headers: { accept: 'text/html', 'user-agent': 'Mozilla/5.0 (compatible; agent-plugin-search)' } };
    },
    results({ status, body }) {
      const page = parsePage(body);
      const found = withClass(page, 'result').filter((result) => !hasClass(result, 'result--ad') && !hasClass(result, 'result--no-result'));
      const results = found.flatMap((result) => resultIn(result) ?? []);
      if (results.length > 0) return results;
      if (status === 202 || isChallenge(body, page)) throw new OperationalError(`DuckDuckGo wants to know whether a person is searching, and shows no results. ${otherProviders}`);
      if (found.length === 0 && withClass(page, 'no-results').length === 0 && withClass(page, 'result--no-result').length === 0) {
        throw new OperationalError(`DuckDuckGo answered a page without results that is not known here; perhaps it changed. ${otherProviders}`);
      }
      return [];
    },
  };
}

function isChallenge(body: string, page: Page): boolean {
  return withClass(page, 'anomaly-modal__title').length > 0 || /id="challenge-form"/.test(body);
}

function resultIn(result: Element): RawResult | undefined {
  const [link] = withClass([result], 'result__a');
  const url = link && targetOf(link.attribs['href'] ?? '');
  if (link === undefined || url === undefined) return undefined;
  const [snippet] = withClass([result], 'result__snippet');
  const [extras] = withClass([result], 'result__extras__url');
  const date = /\b\d{4}-\d\d-\d\d(?=T|\s|$)/.exec(textOf(extras))?.[0];
  return { title: textOf(link), url, snippet: textOf(snippet), date };
}

/** Where a link leads in the end: DuckDuckGo sends people over a page of its own. Undefined for advertisements. */
function targetOf(href: string): string | undefined {
  const link = URL.parse(href, 'https://duckduckgo.com');
  if (!link) return undefined;
  const isOwn = link.hostname === 'duckduckgo.com' || link.hostname.endsWith('.duckduckgo.com');
  if (!isOwn) return link.href;
  // An advertisement may hide behind the redirect, too.
  const target = link.pathname === '/l/' ? (link.searchParams.get('uddg') ?? undefined) : undefined;
  return target !== undefined && /^https?:\/\/([\w-]+\.)*duckduckgo\.com\/y\.js/i.test(target) ? undefined : target;
}
