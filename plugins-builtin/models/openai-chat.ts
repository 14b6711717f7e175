/** The OpenAI chat-completions wire. Imported on the first request. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { chatFrames } from './chat-frames.ts';
import type { Endpoint, Fetch } from './endpoints.ts';
import { guardedModel } from './guarded-model.ts';
import { listDeadline, listModels } from './model-list.ts';
import { createSseFetch } from './sse-fetch.ts';

/** The model `id` of `endpoint`; see `guardedModel` for what it rejects with. */
export function openaiChatModel(endpoint: Endpoint, id: string, fetch: Fetch): LanguageModelV4 {
  const model = createOpenAICompatible({
    name: endpoint.name,
    baseURL: endpoint.baseUrl,
    apiKey: endpoint.apiKey,
    headers: { ...endpoint.headers },
    includeUsage: true,
    // The library puts the path behind whatever it is given.
    fetch: createSseFetch((url, init) => fetch(`${String(url)}${endpoint.query}`, init), chatFrames),
    transformRequestBody: isOpenAI(endpoint) ? forOpenAI : undefined,
  })(id);
  return guardedModel(model, { endpoint, model: id, listModels: () => listModels(endpoint, fetch, listDeadline) }, withoutReasoning);
}

/** What another provider's model thought is not for this one: its servers refuse, or bill, a field they do not know. */
function withoutReasoning({ prompt, ...options }: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const kept = prompt.map((message) => (message.role === 'assistant' ? { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') } : message));
  return { ...options, prompt: kept };
}

function isOpenAI({ baseUrl }: Endpoint): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com';
}

/** OpenAI renamed `max_tokens`, and its reasoning models refuse any temperature but their own. */
export function forOpenAI(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { max_tokens: limit, temperature, ...rest } = body;
  const reasons = /^(o\d|gpt-([5-9]|\d\d))/.test(String(body.model));
  return {
    ...rest,
    ...(limit === undefined ? {} : { max_completion_tokens: limit }),
    ...(temperature === undefined || reasons ? {} : { temperature }),
  };
}
