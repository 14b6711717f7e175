/** The Anthropic Messages wire. Imported on the first request. */
// The class itself: the package's main entry reads keys and addresses from the environment where none is given, and
// would send ANTHROPIC_API_KEY to whatever address a configuration names.
import { AnthropicLanguageModel, getModelCapabilities } from '@ai-sdk/anthropic/internal';
import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { anthropicFrames } from './anthropic-frames.ts';
import { anthropicPrompt, beginsWithThought } from './anthropic-prompt.ts';
import { type Endpoint, type Fetch, keyHeaders } from './endpoints.ts';
import { guardedModel } from './guarded-model.ts';
import type { ModelsConfig } from './manifest.ts';
import { listDeadline, listModels } from './model-list.ts';
import { createSseFetch } from './sse-fetch.ts';

export type Thinking = ModelsConfig['thinking'];

/**
 * The model `id` of `endpoint`; see `guardedModel` for what it rejects with.
 *
 * @param thinking how much it may think before it answers; undefined: as the server does by itself
 */
export function anthropicModel(endpoint: Endpoint, id: string, fetch: Fetch, thinking?: Thinking): LanguageModelV4 {
  const model = new AnthropicLanguageModel(id, {
    provider: 'anthropic.messages',
    baseURL: endpoint.baseUrl.replace(/\/$/, ''),
    headers: { ...keyHeaders(endpoint), ...endpoint.headers },
    fetch: createSseFetch((url, init) => fetch(`${String(url)}${endpoint.query}`, init), anthropicFrames),
    supportedUrls: () => ({}),
    // Both ask for a beta header that other servers do not know, and nothing here needs them.
    supportsNativeStructuredOutput: false,
    supportsStrictTools: false,
  });
  const prepare = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
    ...options,
    prompt: anthropicPrompt(options.prompt),
    providerOptions: { ...options.providerOptions, anthropic: { ...wireOptions(endpoint, id, options, thinking), ...options.providerOptions?.anthropic } },
  });
  return guardedModel(model, { endpoint, model: id, listModels: () => listModels(endpoint, fetch, listDeadline) }, prepare);
}

/** Tokens an answer gets besides what the model may think. */
const leastAnswer = 1_024;

function wireOptions(endpoint: Endpoint, id: string, options: LanguageModelV4CallOptions, thinking: Thinking): SharedV4ProviderOptions[string] {
  // Arguments as they are written, not one by one when they are whole: a long file would look like a stalled server.
  const base = { toolStreaming: isAnthropic(endpoint), includePings: true };
  const asked = thinking && thinkingOf(id, options, thinking);
  return asked ? { ...base, thinking: asked } : base;
}

function thinkingOf(id: string, { prompt }: LanguageModelV4CallOptions, thinking: NonNullable<Thinking>): SharedV4ProviderOptions[string] | undefined {
  const { rejectsBudgetThinking, maxOutputTokens, isKnownModel } = getModelCapabilities(id);
  if (rejectsBudgetThinking) return { type: 'adaptive', display: 'summarized' };
  // A turn of tool calls that began without thinking, with another model say, has to end without.
  if (!beginsWithThought(prompt)) return undefined;
  // The SDK adds the budget to max_tokens, which must exceed it, and leaves out the temperature.
  const budgetTokens = isKnownModel ? Math.min(thinking.budget_tokens, maxOutputTokens - leastAnswer) : thinking.budget_tokens;
  return { type: 'enabled', budgetTokens };
}

function isAnthropic({ baseUrl }: Endpoint): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.anthropic.com';
}
