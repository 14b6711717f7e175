/**
 * What a model thought, in the parts its provider gave it. Some providers sign a thought, or send it only encrypted,
 * and refuse the next request of a turn without it: such a part goes back as it came.
 */
import type { EventData, Json, LanguageModelV4, ReasoningPart } from 'newt-agent';

type StreamPart = Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

export interface ReasoningCollector {
  /** @param said characters of the answer's text so far */
  take(part: StreamPart, said: number): void;
  /** The parts to send back, in order: those their provider marked. */
  parts(): ReasoningPart[];
}

export function collectReasoning(): ReasoningCollector {
  const parts = new Map<string, { text: string; provider?: { [name: string]: Json }; at: number }>();
  let count = 0;
  const open = new Map<string, string>();
  return {
    take(part, said) {
      if (part.type !== 'reasoning-start' && part.type !== 'reasoning-delta' && part.type !== 'reasoning-end') return;
      // Ids may be used again within an answer.
      if (part.type === 'reasoning-start' || !open.has(part.id)) open.set(part.id, `${count++}`);
      const key = open.get(part.id) ?? '';
      const known = parts.get(key) ?? { text: '', at: said };
      if (part.type === 'reasoning-delta') known.text += part.delta;
      if (part.providerMetadata) known.provider = merged(known.provider, part.providerMetadata as { [name: string]: Json });
      parts.set(key, known);
    },
    parts: () =>
      [...parts.values()].flatMap(({ text, provider, at }) => (provider ? [{ text, ...(at > 0 && { at }), provider }] : [])),
  };
}

/** A provider's facts of a part come one by one: those of a later piece are added to those before. */
function merged(before: { readonly [name: string]: Json } = {}, after: { readonly [name: string]: Json }): { [name: string]: Json } {
  const entries = Object.entries(after).map(([name, facts]) => [name, isObject(facts) && isObject(before[name]) ? { ...before[name], ...facts } : facts] as const);
  return { ...before, ...Object.fromEntries(entries) };
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What of an answer's thoughts goes into the log; undefined when there were none. */
export function reasoningRecord({ reasoning, reasoningParts = [] }: { readonly reasoning: string; readonly reasoningParts?: readonly ReasoningPart[] }): EventData<'reasoning'> | undefined {
  if (!reasoning && reasoningParts.length === 0) return undefined;
  return { text: reasoning, ...(reasoningParts.length > 0 && { parts: [...reasoningParts] as NonNullable<EventData<'reasoning'>['parts']> }) };
}

/** Text and thoughts of an answer as the parts of a message, each thought where it was thought. */
export function thoughtAndText(text: string, parts: readonly ReasoningPart[] = []): Json[] {
  const content: Json[] = [];
  let said = 0;
  const sayUpTo = (end: number): void => {
    if (end > said) content.push({ type: 'text', text: text.slice(said, end) });
    said = Math.max(said, end);
  };
  for (const { text: thought, provider, at = 0 } of parts) {
    sayUpTo(Math.min(at, text.length));
    content.push({ type: 'reasoning', text: thought, ...(provider !== undefined && { providerOptions: provider }) });
  }
  sayUpTo(text.length);
  return content;
}
