/** One answer of the model: the stream read to its end, shown as it comes, with one more try when it is cut. */
import {
  type AnnouncedCall,
  describeError,
  type EventData,
  isOperational,
  type Json,
  type LanguageModelV4,
  type Message,
  type ModelRequest,
  OperationalError,
  type PluginContext,
  type ReasoningPart,
} from 'newt-agent';
import type { EventLog } from './event-log.ts';
import { collectReasoning, thoughtAndText } from './reasoning-parts.ts';

export interface Answer {
  text: string;
  reasoning: string;
  reasoningParts?: readonly ReasoningPart[];
  calls: AnnouncedCall[];
  finish: string;
}

const maxAttempts = 4;
/** A recovery may ask for a pause, but not for an endless one. */
const maxPause = 60_000;

interface Turn {
  readonly p: PluginContext;
  readonly log: EventLog;
  readonly model: LanguageModelV4;
  readonly signal: AbortSignal;
  /** Called once the request is on its way. */
  readonly onSent: () => void;
}

/**
 * Asks the model. A connection cut in the middle is tried once more: what was shown stays marked as
 * partial, and no tool runs twice, since calls only run when an answer is complete. Other failures are
 * tried again if a `model.error` tap says so.
 *
 * @throws OperationalError with the fix
 */
export async function askModel(turn: Turn, request: ModelRequest): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer: Answer = { text: '', reasoning: '', calls: [], finish: 'other' };
    try {
      await readAnswer(turn, request, answer);
      return answer;
    } catch (error) {
      if (turn.signal.aborted && answer.text) turn.log.write('assistant', { text: answer.text, finish: 'cancelled', partial: true, calls: [] });
      turn.signal.throwIfAborted();
      const pause = await recovery(turn, request, error, attempt);
      if (pause === undefined) throw asOperational(error);
      turn.log.write('retry', { reason: messageOf(error), attempt, partial: answer.text });
      await sleep(pause, turn.signal);
    }
  }
}

async function readAnswer({ p, log, model, signal, onSent }: Turn, request: ModelRequest, answer: Answer): Promise<void> {
  const { session } = request;
  const started = model.doStream({
    prompt: request.messages as unknown as Parameters<LanguageModelV4['doStream']>[0]['prompt'],
    ...(request.tools.length > 0 && {
      tools: request.tools.map((tool) => ({ type: 'function' as const, name: tool.name, description: tool.description, inputSchema: tool.inputSchema as object })),
    }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.maxTokens !== undefined && { maxOutputTokens: request.maxTokens }),
    abortSignal: signal,
  });
  onSent();
  const { stream } = await started;
  const reader = stream.getReader();
  const reasoning = collectReasoning();
  const show = (kind: 'text' | 'reasoning', text: string): void => {
    if (!text) return;
    log.delta(kind, text);
    void p.call('model.delta', { session, kind, text });
  };
  try {
    for (let part = await next(reader, signal); part; part = await next(reader, signal)) {
      reasoning.take(part, answer.text.length);
      switch (part.type) {
        case 'text-delta':
          answer.text += part.delta;
          show('text', part.delta);
          break;
        case 'reasoning-delta':
          answer.reasoning += part.delta;
          show('reasoning', part.delta);
          break;
        case 'tool-call':
          answer.calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input });
          break;
        case 'finish':
          answer.finish = part.finishReason.unified;
          log.write('usage', usageOf(part.usage));
          break;
        case 'error':
          throw part.error;
        default:
      }
    }
    const parts = reasoning.parts();
    if (parts.length > 0) answer.reasoningParts = parts;
  } catch (error) {
    reader.cancel(error).catch(() => undefined);
    throw error;
  }
}

type FinishUsage = Awaited<ReturnType<LanguageModelV4['doGenerate']>>['usage'];

/** What the provider told of it; what was read from its cache is a part of the input. */
function usageOf({ inputTokens, outputTokens }: FinishUsage): EventData<'usage'> {
  return { inputTokens: inputTokens.total, outputTokens: outputTokens.total, ...(inputTokens.cacheRead && { cacheReadTokens: inputTokens.cacheRead }) };
}

type Reader = ReadableStreamDefaultReader<Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never>;

/** The next part; a person who cancels does not wait for a server that stopped sending. */
async function next(reader: Reader, signal: AbortSignal) {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    const { done, value } = await Promise.race([reader.read(), aborted]);
    return done ? undefined : value;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Milliseconds to wait before the next try; undefined to give up. */
async function recovery({ p }: Turn, request: ModelRequest, error: unknown, attempt: number): Promise<number | undefined> {
  if (attempt >= maxAttempts) return undefined;
  const status = detail(error, 'status');
  const answer = await p.call('model.error', {
    session: request.session,
    message: messageOf(error),
    ...(typeof status === 'number' && { status }),
    attempt,
  });
  if (answer) return answer.retry ? Math.min(answer.after ?? 0, maxPause) : undefined;
  return detail(error, 'kind') === 'cut' && attempt === 1 ? 0 : undefined;
}

export function detail(error: unknown, name: string): unknown {
  return isOperational(error) ? error.details[name] : undefined;
}

/** Providers pass on whatever their server sent as an error. */
function messageOf(error: unknown): string {
  return isOperational(error) ? error.message : describeError(error);
}

function asOperational(error: unknown): unknown {
  return isOperational(error) || (error as Error | undefined)?.name === 'FaultError' ? error : new OperationalError(`the model could not be asked: ${messageOf(error)}`, {}, { cause: error });
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** The answer as a message of the conversation. Arguments that do not parse go in empty: no server takes them back. */
export function assistantMessage(answer: Pick<Answer, 'text' | 'calls' | 'reasoningParts'>): Message {
  const content: Json[] = thoughtAndText(answer.text, answer.reasoningParts);
  for (const call of answer.calls) content.push({ type: 'tool-call', toolCallId: call.id, toolName: call.name, input: parseArguments(call.arguments).value ?? {} });
  return { role: 'assistant', content };
}

/** Deeper values overflow the stack of whoever walks them: the log, the gate, the server. */
const maxNesting = 100;

/** How deep the brackets of a JSON text go, without parsing it. */
function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isQuoted = false;
  // Not a regular expression: a file of ten megabytes as one string overflows its stack.
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) at += character === '\\' ? 1 : 0;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, (depth += 1));
    else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}

/** The arguments of a call, or what is wrong with them. An empty text means no arguments. */
export function parseArguments(text: string): { readonly value?: Json; readonly problem?: string } {
  if (!text.trim()) return { value: {} };
  if (nesting(text) > maxNesting) return { problem: `the arguments are nested deeper than ${maxNesting} levels` };
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { value } : { problem: 'the arguments are not a JSON object' };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
