/** Which model a run uses: the flag, then the environment, then the configuration, then what is at hand. */
import { closest, configurationError, type ModelChoice, type ModelChooser, OperationalError } from 'newt-agent';
import { configFile, environmentEndpoint, keyedProviders, modelSetting, shownUrl, type Endpoint, unsendable } from './endpoints.ts';
import { localEndpoint, localServers, type FoundServer } from './local-servers.ts';
import type { ModelsConfig, ModelsEnvironment } from './manifest.ts';

interface ChooserParts {
  readonly config: Pick<ModelsConfig, 'model' | 'temperature' | 'max_tokens'>;
  readonly env: ModelsEnvironment;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Makes a provider of a server that nobody configured. Called once per name. */
  readonly offer: (endpoint: Endpoint) => void;
  readonly listModels: (endpoint: Endpoint) => Promise<readonly string[] | undefined>;
  /** Whether a plugin brings a provider of this name. */
  readonly hasProvider: (name: string) => Promise<boolean>;
  readonly findLocalServer: () => Promise<FoundServer | undefined>;
}

/** The service that picks the model. It asks servers only where nothing names a model. */
export function createModelChooser(parts: ChooserParts): ModelChooser {
  const { config, env, endpoints } = parts;
  const offered = new Set<string>();

  const choice = (endpoint: Endpoint, id: string): ModelChoice => {
    requireHttp(endpoint);
    return { provider: endpoint.name, id, name: `${endpoint.name}/${id}`, temperature: config.temperature, maxTokens: config.max_tokens };
  };
  const offer = (endpoint: Endpoint): Endpoint => {
    if (!offered.has(endpoint.name)) parts.offer(endpoint);
    offered.add(endpoint.name);
    return endpoint;
  };

  const named = async (wanted: string): Promise<ModelChoice> => {
    const slash = wanted.indexOf('/');
    const [first, rest] = slash < 0 ? ['', wanted] : [wanted.slice(0, slash), wanted.slice(slash + 1)];
    const known = rest ? endpoints.get(first) : undefined;
    if (known) return choice(known, rest);
    if (rest && (await parts.hasProvider(first))) return { provider: first, id: rest, name: wanted, temperature: config.temperature, maxTokens: config.max_tokens };
    const fromEnvironment = endpoints.get(environmentEndpoint);
    if (fromEnvironment) return choice(fromEnvironment, wanted);
    const local = rest ? localServers.find(({ name }) => name === first) : undefined;
    if (local) return choice(offer(localEndpoint(local)), rest);
    throw slash > 0 && rest ? unknownProvider(first, rest, endpoints) : notProviderSlashModel(wanted, endpoints);
  };

  const unnamed = async (): Promise<ModelChoice> => {
    const fromEnvironment = endpoints.get(environmentEndpoint);
    if (fromEnvironment) return choice(fromEnvironment, await onlyModel(fromEnvironment, parts));
    const configured = [...endpoints.values()].filter(({ origin }) => origin === 'config');
    const [single] = configured;
    if (single && configured.length === 1) return choice(single, await onlyModel(single, parts));
    if (single) throw refused('no model is chosen', `set one: ${configured.map((one) => modelSetting(one, 'ID')).join(', ')}`);
    for (const { name, model } of keyedProviders) {
      const endpoint = endpoints.get(name);
      if (endpoint) return choice(endpoint, model);
    }
    const found = await parts.findLocalServer();
    if (found) return choice(offer(found.endpoint), found.model);
    throw nothingConfigured(env);
  };

  return {
    choose: async (wanted) => {
      const name = wanted || env.AGENT_MODEL || config.model;
      return name ? named(name) : unnamed();
    },
  };
}

/** The model of a server that has only one; otherwise the person decides. */
async function onlyModel(endpoint: Endpoint, { listModels }: ChooserParts): Promise<string> {
  requireHttp(endpoint);
  const models = (await listModels(endpoint)) ?? [];
  const [only] = models;
  if (only !== undefined && models.length === 1) return only;
  const ids = (models.length ? models.slice(0, 8) : ['ID']).map((id) => modelSetting(endpoint, id)).join(', ');
  throw refused(`no model is chosen for provider ${endpoint.name}`, `set one: ${ids}`);
}

/** @throws OperationalError for an endpoint that nothing can be sent to, or not with its key */
export function requireHttp(endpoint: Endpoint): void {
  const odd = unsendable(endpoint);
  if (odd) throw refused(odd.problem, `set ${odd.setting} anew`);
  if (URL.canParse(endpoint.baseUrl) && /^https?:$/.test(new URL(endpoint.baseUrl).protocol)) return;
  throw refused(`"${shownUrl(endpoint.baseUrl)}" is not an http URL`, `set ${endpoint.baseUrlSetting} to one like http://127.0.0.1:8000/v1`);
}

function unknownProvider(name: string, id: string, endpoints: ReadonlyMap<string, Endpoint>): OperationalError {
  const keyed = keyedProviders.find((provider) => provider.name === name);
  if (keyed) return refused(`provider ${name} needs an API key`, `export ${keyed.key}=…`);
  const [near] = closest(name, [...endpoints.keys(), ...localServers.map((server) => server.name)], 1);
  const hint = `add to ${configFile}: providers: { ${name}: { base_url: "https://…/v1", api_key: "…" } }`;
  return refused(
    `there is no provider "${name}" (${knownProviders(endpoints)})`,
    near ? `did you mean ${near}/${id}? else ${hint}` : hint,
  );
}

function notProviderSlashModel(wanted: string, endpoints: ReadonlyMap<string, Endpoint>): OperationalError {
  const example = [...endpoints.keys()][0] ?? 'openai';
  return refused(
    `"${wanted}" names no provider (${knownProviders(endpoints)})`,
    `write provider/model, such as ${example}/${wanted.replaceAll('/', '') || 'ID'}, or set AGENT_BASE_URL to the server that has it`,
  );
}

function knownProviders(endpoints: ReadonlyMap<string, Endpoint>): string {
  return endpoints.size ? `known: ${[...endpoints.keys()].join(', ')}` : 'none is configured';
}

function nothingConfigured(env: ModelsEnvironment): OperationalError {
  const probed = localServers.map(({ product, port }) => `${product} (${port})`).join(', ');
  const ways = [
    ...keyedProviders.map(({ key, label }) => `export ${key}=…  for ${label}`),
    'export AGENT_BASE_URL=http://HOST:PORT/v1 AGENT_MODEL=ID  for any OpenAI-compatible server, with AGENT_API_KEY=… if it wants a key',
    `in ${configFile}:  model: lab/ID  and  providers: { lab: { base_url: "http://HOST:PORT/v1" } }`,
    `start a local server: ${probed} were asked and did not answer with a model`,
    'agent tour  shows how it works, without a model',
  ];
  const unused = env.AGENT_API_KEY ? ' (AGENT_API_KEY is set, but no AGENT_BASE_URL)' : '';
  return new OperationalError(`no model is configured${unused}. Any of these will do:\n${ways.map((way) => `  - ${way}`).join('\n')}`, {
    kind: 'configuration',
    hint: ways.join('; '),
    ways,
  });
}

/** Its hint is in the message too: the end of a run in the event log is told by that alone. */
function refused(problem: string, hint: string): OperationalError {
  return configurationError(`${problem}; ${hint}`, hint);
}
