/** What a model server or the way to it did wrong, as one line that names the fix. */
import { closest, OperationalError } from 'newt-agent';
import { ownErrorType } from './mended-stream.ts';
import { configFile, modelSetting, shownUrl, type Endpoint } from './endpoints.ts';
import { notHttp, readFacts, type Facts } from './provider-error-facts.ts';

/**
 * - `auth`: the key is missing, wrong or not permitted
 * - `unknown-model`: the server has no such model
 * - `unreachable`: no connection
 * - `rate-limit`: too many requests, or a quota is used up
 * - `server`: it failed; its own fault
 * - `cut`: the connection closed before the answer was complete
 * - `not-a-model`: something else than a model answered
 * - `bad-request`: it refused what was asked
 */
type ProviderErrorKind = 'auth' | 'unknown-model' | 'unreachable' | 'rate-limit' | 'server' | 'cut' | 'not-a-model' | 'bad-request';

/** `details` of the errors made here. */
export interface ProviderErrorDetails {
  readonly kind: ProviderErrorKind;
  readonly retryable: boolean;
  /** What to do about it. */
  readonly hint: string;
  /** HTTP status, where there was an answer. */
  readonly status?: number;
  /** System error code, where there was none. */
  readonly code?: string;
  /** Milliseconds the server asks to wait. */
  readonly retryAfter?: number;
}

export interface ErrorScene {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** Ids the server lists; asked only where a suggestion needs them. */
  readonly listModels: () => Promise<readonly string[] | undefined>;
}

interface Finding {
  readonly kind: ProviderErrorKind;
  readonly retryable: boolean;
  readonly problem: string;
  readonly hint: string;
}

/**
 * The error as an `OperationalError` with {@link ProviderErrorDetails}. Errors that speak neither of the
 * server nor of the network are answered as they are: they are faults. The original is not kept as
 * `cause`, since it holds the whole request and whatever the server echoed.
 */
export async function describeProviderError(error: unknown, scene: ErrorScene): Promise<unknown> {
  const facts = readFacts(error, (text) => redact(text, scene.endpoint));
  if (!facts) return error;
  const { kind, retryable, problem, hint } = await diagnose(facts, scene);
  const details: ProviderErrorDetails = {
    kind,
    retryable,
    hint,
    ...(facts.status === undefined ? {} : { status: facts.status }),
    ...(facts.code === undefined ? {} : { code: facts.code }),
    ...(facts.retryAfter === undefined ? {} : { retryAfter: facts.retryAfter }),
  };
  return new OperationalError(`${problem}; ${hint}`, { ...details });
}

async function diagnose(facts: Facts, scene: ErrorScene): Promise<Finding> {
  if (facts.own === ownErrorType.cut || isCut(facts)) return cut(facts, scene);
  if (facts.own === ownErrorType.page) return webPage(scene);
  if (facts.own === ownErrorType.malformed) return malformed(facts, scene);
  if (facts.network) return unreachable(facts, scene);
  return facts.status === undefined ? diagnoseWords(facts, scene) : diagnoseStatus(facts.status, facts, scene);
}

async function diagnoseStatus(status: number, facts: Facts, scene: ErrorScene): Promise<Finding> {
  const noSuchPath = status === 404 || status === 405;
  if (facts.page && (status < 400 || noSuchPath)) return webPage(scene);
  if (status < 400) return malformed(facts, scene);
  if (status === 401 || status === 403) return auth(facts, scene);
  if (status === 429 || status === 402) return rateLimit(facts, scene);
  if (status === 404 && /\bmodel\b|model_not_found/.test(facts.words)) return unknownModel(facts, scene, await scene.listModels());
  if (noSuchPath) return missingPath(facts, scene);
  return status === 400 ? diagnoseWords(facts, scene, badRequest) : status < 500 && status !== 408 ? badRequest(facts, scene) : serverFailure(facts, scene);
}

/** Errors in a stream often carry words alone, and some servers answer 400 to everything. */
async function diagnoseWords(facts: Facts, scene: ErrorScene, otherwise = serverFailure): Promise<Finding> {
  const { words } = facts;
  if (/invalid_api_key|authentication|unauthorized/.test(words)) return auth(facts, scene);
  if (/rate.?limit|too many requests|insufficient_quota|billing_error|credit balance/.test(words)) return rateLimit(facts, scene);
  if (modelMissing.test(words)) return unknownModel(facts, scene, await scene.listModels());
  if (/invalid_request|bad_request|context.?length/.test(words)) return badRequest(facts, scene);
  return otherwise(facts, scene);
}

// Not "not supported with this model", which is said of parameters.
const modelMissing = /model_not_found|\bmodel\b.{0,80}(not found|not exist)|(unknown|no such|invalid|not a valid) model\b/;

const cutCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ERR_STREAM_PREMATURE_CLOSE']);
const passingCodes = new Set(['ECONNREFUSED', 'ETIMEDOUT', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN']);

function isCut({ code }: Facts): boolean {
  return code !== undefined && cutCodes.has(code);
}

function cut(facts: Facts, { endpoint }: ErrorScene): Finding {
  const how = facts.code ? ` (${facts.code})` : '';
  return {
    kind: 'cut',
    retryable: true,
    problem: `${shownUrl(endpoint.baseUrl)} closed the connection before the answer was complete${how}`,
    hint: 'try again; if it happens often, look into the log of that server',
  };
}

function webPage({ endpoint }: ErrorScene): Finding {
  const url = shownUrl(endpoint.baseUrl);
  return { kind: 'not-a-model', retryable: false, problem: `${url} answered with a web page, not a model stream`, hint: checkBaseUrl(endpoint) };
}

function malformed(facts: Facts, { endpoint }: ErrorScene): Finding {
  return {
    kind: 'not-a-model',
    retryable: false,
    problem: `${shownUrl(endpoint.baseUrl)} answered with something that is not ${served[endpoint.wire].one}${quoted(facts)}`,
    hint: checkBaseUrl(endpoint),
  };
}

function unreachable(facts: Facts, { endpoint }: ErrorScene): Finding {
  const { code } = facts;
  if (code === notHttp) {
    return { kind: 'not-a-model', retryable: false, problem: `${shownUrl(endpoint.baseUrl)} does not speak HTTP`, hint: checkBaseUrl(endpoint) };
  }
  return {
    kind: 'unreachable',
    retryable: code === undefined || passingCodes.has(code) || code.startsWith('UND_ERR_'),
    problem: `cannot reach ${shownUrl(endpoint.baseUrl)} (${reasonOf(facts)})`,
    hint: endpoint.unreachableHint,
  };
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'its name could not be looked up',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  EHOSTUNREACH: 'no way to that host',
  ENETUNREACH: 'no network',
  ENETDOWN: 'no network',
};

/** What `fetch` says names the address again, or nothing at all. */
function reasonOf({ code, says }: Facts): string {
  const own = says.replace(/^could not reach \S+: /, '');
  return code === undefined ? (own === '' || own === 'fetch failed' ? 'no connection' : own) : (reasons[code] ?? code);
}

function auth(facts: Facts, { endpoint }: ErrorScene): Finding {
  const did = endpoint.apiKey ? 'refused the API key' : 'wants an API key';
  return {
    kind: 'auth',
    retryable: false,
    problem: `provider ${endpoint.name} ${did}${quoted(facts)}`,
    hint: `${endpoint.apiKey ? 'check' : 'set'} ${endpoint.apiKeySetting}`,
  };
}

function rateLimit(facts: Facts, { endpoint }: ErrorScene): Finding {
  const exhausted = facts.status === 402 || /insufficient_quota|billing|credit balance/.test(facts.words);
  const pause = facts.retryAfter === undefined ? 'wait a little' : `wait ${Math.ceil(facts.retryAfter / 1000)} s`;
  return {
    kind: 'rate-limit',
    retryable: !exhausted,
    problem: `provider ${endpoint.name} ${exhausted ? 'says that the quota is used up' : 'limits the number of requests'}${quoted(facts)}`,
    hint: exhausted ? 'look at the account of that provider, or choose another model' : `${pause} and try again`,
  };
}

function unknownModel(facts: Facts, { endpoint, model }: ErrorScene, listed: readonly string[] | undefined): Finding {
  const near = closest(model, listed ?? []);
  const others = near.length ? near : (listed ?? []).slice(0, 3);
  const suggestion = near.length ? `did you mean ${near.join(', ')}? ` : others.length ? `it has ${others.join(', ')}: ` : '';
  const setting = modelSetting(endpoint, others[0] ?? 'ID');
  return {
    kind: 'unknown-model',
    retryable: false,
    problem: `provider ${endpoint.name} has no model "${model}"${quoted(facts)}`,
    hint: `${suggestion}set ${setting}${endpoint.origin === 'environment' ? '' : ` in ${configFile}`}`,
  };
}

/** A 404 that does not say what is missing: the model, if the server lists models without it; else the path. */
async function missingPath(facts: Facts, scene: ErrorScene): Promise<Finding> {
  const listed = await scene.listModels();
  if (listed && !listed.includes(scene.model)) return unknownModel(facts, scene, listed);
  const { endpoint } = scene;
  const version = /\/v\d+\w*\/?$/.test(endpoint.baseUrl) ? '' : '; such URLs usually end in /v1';
  return {
    kind: 'not-a-model',
    retryable: false,
    problem: `${shownUrl(endpoint.baseUrl)} has no ${served[endpoint.wire].all}${quoted(facts)}`,
    hint: `${checkBaseUrl(endpoint)}${version}`,
  };
}

function badRequest(facts: Facts, { endpoint }: ErrorScene): Finding {
  return {
    kind: 'bad-request',
    retryable: false,
    problem: `provider ${endpoint.name} refused the request${quoted(facts)}`,
    hint: 'change what it names, or choose another model',
  };
}

function serverFailure(facts: Facts, { endpoint }: ErrorScene): Finding {
  return {
    kind: 'server',
    retryable: true,
    problem: `provider ${endpoint.name} failed${quoted(facts)}`,
    hint: 'try again, or choose another model',
  };
}

/** What a server of each wire has to offer. */
const served = {
  'openai-chat': { one: 'a chat completion', all: 'chat completions' },
  anthropic: { one: 'an Anthropic message', all: 'Anthropic messages' },
} as const;

function checkBaseUrl({ baseUrlSetting, origin, wire }: Endpoint): string {
  return `check ${baseUrlSetting}${origin === 'config' ? `, and its wire (${wire})` : ''}`;
}

function quoted({ status, says }: Facts): string {
  const parts = [status === undefined ? '' : String(status), says].filter(Boolean);
  return parts.length ? ` (${parts.join(': ')})` : '';
}

const shortestSecret = 6;

/** Takes out what must not be shown, should the server repeat it. */
function redact(text: string, { apiKey, headers, query }: Endpoint): string {
  const parameters = query.slice(1).split('&').flatMap((pair) => [pair.slice(pair.indexOf('=') + 1), ...new URLSearchParams(pair).values()]);
  const values = [apiKey, ...Object.values(headers), query, ...parameters].filter((value) => value !== undefined && value.length >= shortestSecret);
  return values.reduce<string>((clean, value) => clean.replaceAll(String(value), '[redacted]'), text);
}
