/** What `agent doctor` learns of the model: whether its server answers and takes the key. Costs no tokens. */
import { type Check, describeError, type Finding, isOperational, type ModelChoice, type ModelChooser } from 'newt-agent';
import { type Endpoint, type Fetch, shownUrl, urlAt } from './endpoints.ts';
import { idsOf } from './model-list.ts';

/** Milliseconds the server has to answer. */
const patience = 5_000;
const maxAnswer = 2_000_000;
/** Seconds: choosing may ask a server too. */
const deadline = 10;

/** @param endpointOf undefined for a provider that another plugin brings */
export function modelCheck(chooser: ModelChooser, endpointOf: (provider: string) => Endpoint | undefined, fetch: Fetch): Check {
  return {
    description: 'the model',
    deadline,
    async run(_, { signal }) {
      let choice: ModelChoice;
      try {
        choice = await chooser.choose();
      } catch (error) {
        if (!isOperational(error)) throw error;
        return [refused(error.message, error.details)];
      }
      const endpoint = endpointOf(choice.provider);
      if (!endpoint) return [{ level: 'info', what: 'model', detail: `${choice.name}: another plugin brings its provider, which cannot be asked` }];
      return [await askServer(choice, endpoint, fetch, signal)];
    },
  };
}

function refused(message: string, { ways, hint }: Readonly<Record<string, unknown>>): Finding {
  const [first = '', ...rest] = message.split('\n');
  if (Array.isArray(ways)) return { level: 'error', what: 'model', detail: first.replace(/\. Any of these will do:$/, ''), fix: ways.slice(0, 3).map((way) => String(way).replace(/ {2}.*$/, '')).join(', or: ') };
  const fix = typeof hint === 'string' ? hint : rest.join(' ');
  return { level: 'error', what: 'model', detail: fix === '' ? first : first.replace(`; ${fix}`, ''), ...(fix !== '' && { fix }) };
}

async function askServer({ name, id }: ModelChoice, endpoint: Endpoint, fetch: Fetch, signal: AbortSignal): Promise<Finding> {
  const where = shownUrl(endpoint.baseUrl);
  const problem = (detail: string, fix: string): Finding => ({ level: 'error', what: 'model', detail: `${name}: ${detail}`, fix });
  const authorization: Record<string, string> = endpoint.apiKey ? { authorization: `Bearer ${endpoint.apiKey}` } : {};
  const limit = AbortSignal.timeout(patience);
  try {
    const response = await fetch(urlAt(endpoint, '/models'), { headers: { ...authorization, ...endpoint.headers }, signal: AbortSignal.any([signal, limit]) });
    const { status } = response;
    if (response.ok) return listed(name, id, where, await readJson(response));
    await response.body?.cancel();
    if (status === 401 || status === 403) return problem(`${where} does not accept ${endpoint.apiKey ? 'the key' : 'a request without a key'} (${status})`, `set ${endpoint.apiKeySetting}`);
    if (status >= 500) return problem(`${where} answers with an error of its own (${status})`, `${endpoint.unreachableHint}, or try again later`);
    return { level: 'info', what: 'model', detail: `${name}: ${where} answers, but has no list of models (${status})` };
  } catch (error) {
    return problem(limit.aborted ? `${where} did not answer within ${patience / 1_000} s` : isOperational(error) ? error.message.replace(urlAt(endpoint, '/models'), () => where) : `${where} cannot be reached: ${describeError(error)}`, endpoint.unreachableHint);
  }
}

function listed(name: string, id: string, where: string, answer: unknown): Finding {
  const ids = idsOf(answer);
  if (!ids) return { level: 'info', what: 'model', detail: `${name}: ${where} answers, but with no list of models` };
  if (ids.includes(id)) return { level: 'ok', what: 'model', detail: `${name} at ${where}` };
  const some = ids.slice(0, 5).join(', ');
  return { level: 'warn', what: 'model', detail: `${name}: ${where} answers, but does not list ${id}${some === '' ? '' : `; it has ${some}${ids.length > 5 ? ', …' : ''}`}`, fix: `agent config set model ${name.slice(0, name.length - id.length)}${ids[0] ?? 'ID'}` };
}

/** @returns undefined for what is no JSON, or too much of it */
async function readJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxAnswer) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}
