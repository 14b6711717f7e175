/** Which provider searches. */
import { OperationalError } from 'newt-agent';
import type { Provider, ProviderOptions } from './provider.ts';
import { duckDuckGo } from './providers/duckduckgo.ts';
import { brave, searxng, serpApi, tavily } from './providers/json.ts';

export const providerNames = ['tavily', 'brave', 'serpapi', 'searxng', 'duckduckgo'] as const;
export type ProviderName = (typeof providerNames)[number];
export type BaseUrls = Readonly<Partial<Record<ProviderName, string | undefined>>>;

interface Kind {
  readonly make: (options: ProviderOptions) => Provider;
  /** None: a server of one's own, which has to be named. */
  readonly base?: string;
  /** Variable of the key, where one is needed. */
  readonly variable?: string;
}

const kinds: Readonly<Record<ProviderName, Kind>> = {
  tavily: { make: tavily, base: 'https://api.tavily.com', variable: 'TAVILY_API_KEY' },
  brave: { make: brave, base: 'https://api.search.brave.com', variable: 'BRAVE_API_KEY' },
  serpapi: { make: serpApi, base: 'https://serpapi.com', variable: 'SERPAPI_API_KEY' },
  searxng: { make: searxng },
  duckduckgo: { make: duckDuckGo, base: 'https://html.duckduckgo.com' },
};

/**
 * The provider that was asked for; without, the first that has a key or an address; without any, DuckDuckGo.
 *
 * @throws OperationalError when the one that was asked for lacks its key or address
 */
export function chooseProvider(wanted: ProviderName | undefined, urls: BaseUrls, keyOf: (name: ProviderName, variable: string) => string | undefined): Provider {
  const made = (name: ProviderName): Provider | string => {
    const { make, variable, base = '' } = kinds[name];
    const url = (urls[name] ?? base).replace(/\/+$/, '');
    const key = variable === undefined ? undefined : keyOf(name, variable)?.trim();
    if (url === '') return `The provider ${name} needs the address of a server: agent config set plugins.config.search.base_urls.${name} <url>`;
    if (variable !== undefined && !key) return `The provider ${name} needs a key: set ${variable}, or plugins.config.search.${name}_api_key.`;
    return make({ base: url, ...(key && { key }) });
  };
  const candidates = wanted === undefined ? providerNames : [wanted];
  const problems: string[] = [];
  for (const name of candidates) {
    const provider = made(name);
    if (typeof provider !== 'string') return provider;
    problems.push(provider);
  }
  throw new OperationalError(problems[0] ?? 'There is no provider.');
}
