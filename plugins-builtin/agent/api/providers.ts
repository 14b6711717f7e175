/** Providers: where models come from. */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { definePoint, defineService, OperationalError } from '../../../kernel/index.ts';

export type { LanguageModelV4 };

export interface Provider {
  /** Shown to people: `OpenAI-compatible server at http://…`. */
  readonly label: string;
  /** True for the tour's model, which follows a script: shown wherever its output is shown. */
  readonly scripted?: boolean;
  /** The model `id` of this provider. Makes no request yet. */
  model(id: string): LanguageModelV4 | Promise<LanguageModelV4>;
}

/** Which model to use, told by configuration and environment. */
export interface ModelChoice {
  /** Name of a `providers` item. */
  readonly provider: string;
  /** Id within the provider. */
  readonly id: string;
  /** `provider/model`, as shown and logged. */
  readonly name: string;
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
}

export interface ModelChooser {
  /**
   * @param wanted `provider/model` from a flag; default: configuration, then environment.
   * @throws OperationalError with the fix, when there is none.
   */
  choose(wanted?: string): ModelChoice | Promise<ModelChoice>;
}

export const modelChooser = defineService<ModelChooser>('agent.model-chooser');

declare module '../../../kernel/index.ts' {
  interface ContributionMap {
    providers: Provider;
  }
}

const aiSdkError = Symbol.for('vercel.ai.error');

/** Errors of the AI SDK speak of the server or the network, not of the plugin that passed them on. */
export function isProviderError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (aiSdkError in error || (error as { name?: unknown }).name === 'AbortError');
}

const firstPartDeadline = 300_000;
const betweenPartsDeadline = 120_000;

function stalled(ms: number): OperationalError {
  return new OperationalError(`the model sent nothing for ${ms / 1_000} s`, { kind: 'stalled', retryable: true, hint: 'check the server, or try again' });
}

export const providersPoint = definePoint('providers', {
  check: (item) => (typeof item.label === 'string' ? undefined : 'needs a label'),
  members: {
    model: {
      kind: 'call',
      deadline: 30_000,
      check: (value) => typeof value === 'object' && value !== null && 'doStream' in value,
      operational: isProviderError,
      methods: {
        doStream: { kind: 'stream', first: firstPartDeadline, deadline: betweenPartsDeadline, operational: isProviderError, late: stalled },
        doGenerate: { kind: 'call', deadline: firstPartDeadline, operational: isProviderError, late: stalled },
      },
    },
  },
});
