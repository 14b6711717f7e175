/** Web search. */
import { definePlugin, z } from 'newt-agent';
import { chooseProvider, providerNames } from './choose.ts';
import { webSearch } from './web-search.ts';

const url = z.url({ protocol: /^https?$/ }).optional();
const key = z.string().optional();

const config = z.strictObject({
  provider: z.enum(providerNames).optional().describe('Default: the first of these with a key or an address, else duckduckgo'),
  timeout: z.number().min(1).max(100).default(20).describe('Seconds a search may take'),
  tavily_api_key: key,
  brave_api_key: key,
  serpapi_api_key: key,
  base_urls: z.strictObject({ tavily: url, brave: url, serpapi: url, searxng: url, duckduckgo: url }).default({}).describe('Addresses of the services; that of a SearXNG server has no default'),
});

const capabilities = ['net', 'env:TAVILY_API_KEY', 'env:SERPAPI_API_KEY', 'env:BRAVE_API_KEY'];

export default definePlugin({ id: 'search', activateOn: ['onDemand'], capabilities, config }, (p) => {
  const { provider, base_urls: urls, timeout, tavily_api_key, brave_api_key, serpapi_api_key } = p.config;
  const keys: Readonly<Record<string, string | undefined>> = { tavily: tavily_api_key, brave: brave_api_key, serpapi: serpapi_api_key };
  return { tools: { web_search: webSearch((at, init) => p.fetch(at, init), () => chooseProvider(provider, urls, (name, variable) => keys[name] ?? p.env(variable)), timeout) } };
});
