/** A model of the AI SDK whose errors are ours, on every wire. */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describeProviderError, type ErrorScene } from './provider-error.ts';
import { eventStream } from './sse-fetch.ts';

/**
 * The model, which makes one request per call and repeats none. `doGenerate` and `doStream` reject with an
 * `OperationalError` (see `ProviderErrorDetails`); what fails later is the last part of the stream,
 * `{ type: 'error', error }` with such an error. After it no tool call is reported.
 * An abort rejects with `AbortError`, as a request and as a read.
 *
 * @param prepare what the wire makes of a request first
 */
export function guardedModel(model: LanguageModelV4, scene: ErrorScene, prepare: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(options) {
      try {
        return await model.doGenerate(prepare(options));
      } catch (error) {
        throw await failureOf(error, options, scene);
      }
    },
    async doStream(options) {
      try {
        const result = await model.doStream(prepare({ ...options, headers: { ...options.headers, accept: eventStream } }));
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
