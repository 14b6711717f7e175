/** Endpoints: the model servers that configuration and environment name. */
import type { ModelsConfig, ModelsEnvironment } from './manifest.ts';

/** A model server, and where each of its settings comes from, so that an error can name the fix. */
export interface Endpoint {
  /** Name of its `providers` item: the first part of `provider/model`. */
  readonly name: string;
  readonly label: string;
  readonly wire: Wire;
  /** Who named it; `offered`: nobody, it is known by default. */
  readonly origin: 'config' | 'environment' | 'offered';
  /** Without user, password, query and fragment. */
  readonly baseUrl: string;
  /** What follows every path, such as `?api-version=1`; it may hold a key. */
  readonly query: string;
  readonly baseUrlSetting: string;
  readonly unreachableHint: string;
  readonly apiKey: string | undefined;
  readonly apiKeySetting: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The protocol a server speaks. */
export type Wire = ModelsConfig['providers'][string]['wire'];

/** `fetch` as the plugin's context offers it. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export const configFile = 'config.yaml (agent config path says where)';

/** The endpoint AGENT_BASE_URL names. */
export const environmentEndpoint = 'env';

interface KeyedProvider {
  readonly name: string;
  readonly label: string;
  readonly wire: Wire;
  readonly baseUrl: string;
  readonly key: 'OPENAI_API_KEY' | 'ANTHROPIC_API_KEY';
  /** The model of a bare key: takes tools. */
  readonly model: string;
}

/** The endpoints that a key in the environment makes, in the order they are chosen in. */
export const keyedProviders: readonly KeyedProvider[] = [
  // This one also takes a temperature over the chat wire.
  { name: 'openai', label: 'OpenAI', wire: 'openai-chat', baseUrl: 'https://api.openai.com/v1', key: 'OPENAI_API_KEY', model: 'gpt-4.1' },
  { name: 'anthropic', label: 'Anthropic', wire: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', key: 'ANTHROPIC_API_KEY', model: 'claude-sonnet-5' },
];

/** How to choose a model of an endpoint: `model` is its id there. */
export function modelSetting({ name, origin }: Pick<Endpoint, 'name' | 'origin'>, model: string): string {
  if (origin !== 'environment') return `model: ${name}/${model}`;
  // The server of AGENT_BASE_URL is meant where none is named.
  return `AGENT_MODEL=${name === environmentEndpoint ? '' : `${name}/`}${model}`;
}

/**
 * All endpoints by name. A configured provider never receives a key from the environment by virtue of
 * its name: a file could otherwise send OPENAI_API_KEY to a server of its choice.
 */
export function endpointsOf(config: Pick<ModelsConfig, 'providers'>, env: ModelsEnvironment): Map<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const provider of keyedProviders) {
    const apiKey = env[provider.key];
    if (apiKey) endpoints.set(provider.name, endpointOfKey(provider, apiKey));
  }
  for (const [name, { base_url, api_key, headers, wire }] of Object.entries(config.providers)) {
    const endpoint = endpointAt(name, base_url, `providers.${name}.base_url in ${configFile}`, wire);
    endpoints.set(name, { ...endpoint, apiKey: api_key || undefined, origin: 'config', headers: { ...endpoint.headers, ...headers } });
  }
  if (env.AGENT_BASE_URL) {
    endpoints.set(environmentEndpoint, {
      ...endpointAt(environmentEndpoint, env.AGENT_BASE_URL, 'AGENT_BASE_URL'),
      origin: 'environment',
      apiKey: env.AGENT_API_KEY,
      apiKeySetting: 'AGENT_API_KEY',
    });
  }
  return endpoints;
}

/** A server without a key. User and password in the URL, which `fetch` refuses, are sent as a header. */
export function endpointAt(name: string, url: string, baseUrlSetting: string, wire: Wire = 'openai-chat'): Endpoint {
  const { baseUrl, query, headers } = partsOf(url);
  return {
    name,
    label: `${wire === 'anthropic' ? 'Anthropic' : 'OpenAI'}-compatible server at ${shownUrl(baseUrl)}`,
    wire,
    origin: 'offered',
    baseUrl,
    query,
    baseUrlSetting,
    unreachableHint: `check that the server runs, and ${baseUrlSetting}`,
    apiKey: undefined,
    apiKeySetting: `providers.${name}.api_key in ${configFile}`,
    headers,
  };
}

function partsOf(written: string): Pick<Endpoint, 'baseUrl' | 'query' | 'headers'> {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const baseUrl = written.replace(/[?#].*$/s, '');
  const query = url?.search ?? '';
  if (!url?.username && !url?.password) return { baseUrl, query, headers: {} };
  const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
  url.username = url.password = url.search = url.hash = '';
  return { baseUrl: url.href, query, headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that stands for itself.
    return text;
  }
}

/** Where a request goes: `path` begins with a slash. */
export function urlAt({ baseUrl, query }: Pick<Endpoint, 'baseUrl' | 'query'>, path: string): string {
  return `${baseUrl.replace(/\/$/, '')}${path}${query}`;
}

/** The URL without user, password and query, which may be secret. */
export function shownUrl(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//').replace(/\/$/, '');
}

/** The headers that tell the key, as the wire wants them. */
export function keyHeaders({ wire, apiKey }: Pick<Endpoint, 'wire' | 'apiKey'>): Record<string, string> {
  if (wire === 'anthropic') return { 'anthropic-version': '2023-06-01', ...(apiKey && { 'x-api-key': apiKey }) };
  return apiKey ? { authorization: `Bearer ${apiKey}` } : {};
}

/**
 * What is wrong with the key or the headers of an endpoint, and where it is set; undefined where they can be sent.
 * Whoever refuses them later would show them.
 */
export function unsendable({ name, apiKey, apiKeySetting, headers }: Pick<Endpoint, 'name' | 'apiKey' | 'apiKeySetting' | 'headers'>): { readonly problem: string; readonly setting: string } | undefined {
  const odd = 'a line break or another character that cannot be sent';
  if (apiKey !== undefined && !/^[\x20-\x7e]*$/.test(apiKey)) return { problem: `the key of ${name} holds ${odd}`, setting: apiKeySetting };
  const bad = Object.entries(headers).find(([header, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(header) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value));
  return bad && { problem: `a header of ${name} holds ${odd}`, setting: `providers.${name}.headers in ${configFile}` };
}

function endpointOfKey({ name, label, wire, baseUrl, key }: KeyedProvider, apiKey: string): Endpoint {
  const endpoint = endpointAt(name, baseUrl, `what answers at ${baseUrl}`, wire);
  return { ...endpoint, label, origin: 'environment', unreachableHint: 'check your network connection', apiKey, apiKeySetting: key };
}
