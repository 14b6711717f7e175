/** Providers that answer JSON: Tavily, SerpAPI, Brave and SearXNG. */
import { OperationalError, oneLine, z } from 'newt-agent';
import { jsonAnswer } from '../http.ts';
import { textOfHtml } from '../html.ts';
import { type Provider, type ProviderOptions, type RawResult, type Recency, withSite } from '../provider.ts';

const text = z.string().nullish().transform((value) => value ?? '');
const date = z.string().nullish().transform((value) => value ?? undefined);

/** Results of a list; what has no address is passed over. */
function taken<T extends z.ZodType<RawResult>>(list: unknown, entry: T): RawResult[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((one) => entry.safeParse(one).data ?? []);
}

function partOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

const keyHint = (variable: string): string => `Check the key in ${variable} or in plugins.config.search, and what is left of your plan.`;

export function tavily({ base, key = '' }: ProviderOptions): Provider {
  const entry = z.object({ title: text, url: z.string(), content: text, published_date: date }).transform(({ title, url, content, published_date }) => ({ title, url, snippet: content, date: published_date }));
  return {
    name: 'Tavily',
    key,
    refusedHint: keyHint('TAVILY_API_KEY'),
    request: ({ query, max, recency, site }) => ({
      url: `${base}/search`,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: max, ...(recency && { time_range: recency }), ...(site !== undefined && { include_domains: [site] }) }),
    }),
    results: (answer) => jsonAnswer(answer, 'Tavily', (value) => taken(partOf(value, 'results'), entry)),
  };
}

export function serpApi({ base, key = '' }: ProviderOptions): Provider {
  const spans: Readonly<Record<Recency, string>> = { day: 'qdr:d', week: 'qdr:w', month: 'qdr:m', year: 'qdr:y' };
  const entry = z.object({ title: text, link: z.string(), snippet: text, date }).transform(({ title, link, snippet, date: day }) => ({ title, url: link, snippet, date: day }));
  return {
    name: 'SerpAPI',
    key,
    refusedHint: keyHint('SERPAPI_API_KEY'),
    request: (search) => ({ url: `${base}/search.json?${new URLSearchParams({ engine: 'google', q: withSite(search), num: String(search.max), api_key: key, ...(search.recency && { tbs: spans[search.recency] }) })}` }),
    results: (answer) =>
      jsonAnswer(answer, 'SerpAPI', (value) => {
        const error = partOf(value, 'error');
        if (typeof error !== 'string') return taken(partOf(value, 'organic_results') ?? [], entry);
        // No results are an error in its words.
        if (/hasn't returned any results/.test(error)) return [];
        throw new OperationalError(`SerpAPI refuses the search: ${oneLine(error, 200)}. ${keyHint('SERPAPI_API_KEY')}`);
      }),
  };
}

export function brave({ base, key = '' }: ProviderOptions): Provider {
  const spans: Readonly<Record<Recency, string>> = { day: 'pd', week: 'pw', month: 'pm', year: 'py' };
  const mostAtOnce = 20;
  const entry = z
    .object({ title: text, url: z.string(), description: text, page_age: date, age: date })
    .transform(({ title, url, description, page_age, age }) => ({ title: textOfHtml(title), url, snippet: textOfHtml(description), date: page_age ?? age }));
  return {
    name: 'Brave',
    key,
    refusedHint: keyHint('BRAVE_API_KEY'),
    request: (search) => ({
      url: `${base}/res/v1/web/search?${new URLSearchParams({ q: withSite(search), count: String(Math.min(search.max, mostAtOnce)), ...(search.recency && { freshness: spans[search.recency] }) })}`,
      headers: { 'x-subscription-token': key },
    }),
    // Without a hit it leaves the part out.
    results: (answer) => jsonAnswer(answer, 'Brave', (value) => (partOf(value, 'type') === 'search' || partOf(value, 'web') !== undefined ? taken(partOf(partOf(value, 'web'), 'results') ?? [], entry) : undefined)),
  };
}

export function searxng({ base }: ProviderOptions): Provider {
  const entry = z.object({ title: text, url: z.string(), content: text, publishedDate: date }).transform(({ title, url, content, publishedDate }) => ({ title, url, snippet: content, date: publishedDate }));
  return {
    name: 'SearXNG',
    refusedHint: 'Its administrator has to allow JSON: add json to search.formats in its settings.yml.',
    request: (search) => ({ url: `${base}/search?${new URLSearchParams({ q: withSite(search), format: 'json', ...(search.recency && { time_range: search.recency === 'week' ? 'month' : search.recency }) })}` }),
    results: (answer) => jsonAnswer(answer, 'SearXNG', (value) => taken(partOf(value, 'results'), entry)),
    note: ({ recency }) => (recency === 'week' ? 'SearXNG knows no week: these are of the last month' : undefined),
  };
}
