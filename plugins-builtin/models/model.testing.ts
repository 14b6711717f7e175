/** What the tests of this folder share: a model on a server, and a stream read to its end. */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { startModelServer, type ModelServer, type ModelServerOptions, type Script } from '../../test/support/model-server.ts';
import { endpointAt, type Endpoint } from './endpoints.ts';
import { openaiChatModel } from './openai-chat.ts';
import type { ProviderErrorDetails } from './provider-error.ts';

export const testKey = 'sk-test-0123456789';

export const options: LanguageModelV4CallOptions = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] };

export function endpointOf(baseUrl: string): Endpoint {
  return { ...endpointAt('lab', baseUrl, 'providers.lab.base_url'), apiKey: testKey, apiKeySetting: 'providers.lab.api_key' };
}

export function modelAt(baseUrl: string, id = 'scripted-model'): LanguageModelV4 {
  return openaiChatModel(endpointOf(baseUrl), id, fetch);
}

/** Runs `use` with a model on a fresh server. */
export async function withModel<T>(script: Script, use: (model: LanguageModelV4, server: ModelServer) => Promise<T>, settings?: ModelServerOptions): Promise<T> {
  await using server = await startModelServer(script, settings);
  return await use(modelAt(server.url), server);
}

export interface Told {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly input: string }[];
  readonly finish: string | undefined;
  readonly parts: readonly LanguageModelV4StreamPart[];
  /** The error part, which must be the last one. */
  readonly error: ProviderError | undefined;
}

export type ProviderError = Error & { readonly details: ProviderErrorDetails };

export async function stream(model: LanguageModelV4, extra: Partial<LanguageModelV4CallOptions> = {}): Promise<Told> {
  const { stream: source } = await model.doStream({ ...options, ...extra });
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of source as ReadableStream<LanguageModelV4StreamPart> & AsyncIterable<LanguageModelV4StreamPart>) parts.push(part);
  const deltas = (type: 'text-delta' | 'reasoning-delta'): string => parts.map((part) => (part.type === type ? part.delta : '')).join('');
  const last = parts.at(-1);
  const finish = parts.find((part) => part.type === 'finish');
  return {
    text: deltas('text-delta'),
    reasoning: deltas('reasoning-delta'),
    calls: parts.flatMap((part) => (part.type === 'tool-call' ? [{ name: part.toolName, input: part.input }] : [])),
    finish: finish?.finishReason.unified,
    parts,
    error: last?.type === 'error' ? (last.error as ProviderError) : undefined,
  };
}

/** The error a call rejects with. */
export async function rejection(call: PromiseLike<unknown>): Promise<ProviderError> {
  try {
    await call;
  } catch (error) {
    return error as ProviderError;
  }
  throw new Error('expected a rejection');
}
