/** The OpenAI chat-completions wire: a model of the AI SDK whose errors are ours. Imported on the first request. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Endpoint, Fetch } from './endpoints.ts';
import { listDeadline, listModels } from './model-list.ts';
import { describeProviderError, type ErrorScene } from './provider-error.ts';
import { createSseFetch, eventStream } from './sse-fetch.ts';

/**
 * The model `id` of `endpoint`. It makes one request per call and repeats none. `doGenerate` and
 * `doStream` reject with an `OperationalError` (see `ProviderErrorDetails`); what fails later is the last
 * part of the stream, `{ type: 'error', error }` with such an error. After it no tool call is reported.
 * An abort rejects with `AbortError`, as a request and as a read.
 */
export function openaiChatModel(endpoint: Endpoint, id: string, fetch: Fetch): LanguageModelV4 {
  const model = createOpenAICompatible({
    name: endpoint.name,
    baseURL: endpoint.baseUrl,
    apiKey: endpoint.apiKey,
    headers: { ...endpoint.headers },
    includeUsage: true,
    // The library puts the path behind whatever it is given.
    fetch: createSseFetch((url, init) => fetch(`${String(url)}${endpoint.query}`, init)),
    transformRequestBody: isOpenAI(endpoint) ? forOpenAI : undefined,
  })(id);
  const scene: ErrorScene = { endpoint, model: id, listModels: () => listModels(endpoint, fetch, listDeadline) };

  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(options) {
      try {
        return await model.doGenerate(options);
      } catch (error) {
        throw await failureOf(error, options, scene);
      }
    },
    async doStream(options) {
      try {
        const result = await model.doStream({ ...options, headers: { ...options.headers, accept: eventStream } });
        return { ...result, stream: endingOnError(result.stream, options, scene) };
      } catch (error) {
        throw await failureOf(error, options, scene);
      }
    },
  };
}

/** Read on demand, so that a part already received is never dropped in favour of the error behind it. */
function endingOnError(
  source: ReadableStream<LanguageModelV4StreamPart>,
  options: LanguageModelV4CallOptions,
  scene: ErrorScene,
): ReadableStream<LanguageModelV4StreamPart> {
  const reader = source.getReader();
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        const part = await reader.read().catch((error: unknown) => ({ done: false as const, value: { type: 'error' as const, error } }));
        if (part.done) return controller.close();
        if (part.value.type !== 'error') return controller.enqueue(asJson(part.value));
        const error = await failureOf(part.value.error, options, scene);
        if (options.abortSignal?.aborted) return controller.error(error);
        controller.enqueue({ type: 'error', error });
        controller.close();
        await reader.cancel().catch(() => undefined);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

// Parts of a stream are JSON in this house; the SDK's only other value is this date.
function asJson(part: LanguageModelV4StreamPart): LanguageModelV4StreamPart {
  return part.type === 'response-metadata' ? { ...part, timestamp: undefined } : part;
}

async function failureOf(error: unknown, { abortSignal }: LanguageModelV4CallOptions, scene: ErrorScene): Promise<unknown> {
  if (!abortSignal?.aborted) return describeProviderError(error, scene);
  const isAbort = error instanceof Error && error.name === 'AbortError';
  return isAbort ? error : Object.assign(new DOMException('The request was aborted', 'AbortError'), { cause: abortSignal.reason as unknown });
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
