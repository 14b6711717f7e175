/**
 * The tour's model. It follows a script, because the tour must work where no model is configured. It
 * is labelled as scripted wherever its output is shown, and nothing but the tour uses it. Everything
 * else the tour shows (loop, tools, gate, plugins) is what every run uses.
 */
import { type LanguageModelV4, OperationalError, type Provider } from 'newt-agent';
import { script, type Step } from './scripts.ts';

type CallOptions = Parameters<LanguageModelV4['doStream']>[0];
type Part = Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

/** Milliseconds between two words, so that a person can see them come. */
const pace = 12;
const noUsage = { inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };

export const tourProvider: Provider = {
  label: 'scripted model of the tour',
  scripted: true,
  model: (id): LanguageModelV4 => ({
    specificationVersion: 'v4',
    provider: 'tour',
    modelId: id,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new OperationalError('the tour model only streams')),
    doStream: async (options) => ({ stream: ReadableStream.from(play(script(id, observations(options.prompt)), options.abortSignal)) }),
  }),
};

/** What the tools answered so far, in order: what the script goes by. */
function observations(prompt: CallOptions['prompt']): string[] {
  return prompt.flatMap((message) =>
    message.role === 'tool' ? message.content.map((part) => (part.type === 'tool-result' && 'value' in part.output ? String(part.output.value) : '')) : [],
  );
}

async function* play({ text, calls = [] }: Step, signal: AbortSignal | undefined): AsyncGenerator<Part> {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 'text' };
  for (const delta of text.split(/(?<=\s)/)) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, pace));
    yield { type: 'text-delta', id: 'text', delta };
  }
  yield { type: 'text-end', id: 'text' };
  for (const [index, call] of calls.entries()) {
    yield { type: 'tool-call', toolCallId: `tour_${call.name}_${index}`, toolName: call.name, input: JSON.stringify(call.input) };
  }
  yield { type: 'finish', usage: noUsage, finishReason: { unified: calls.length ? 'tool-calls' : 'stop', raw: undefined } };
}
