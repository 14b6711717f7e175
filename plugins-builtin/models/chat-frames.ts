/**
 * Makes of whatever a server streams a chat-completions stream that the AI SDK understands. The SDK
 * reads comments, CRLF, a byte-order mark and packets cut anywhere by itself; it loses or misreads the rest:
 *
 * - a last event without a blank line, and events separated by single newlines
 * - events without data or with data that is no chunk, such as `event: ping`, become errors
 * - `[DONE]` without a finish reason counts as broken off
 * - error objects of other shapes than OpenAI's, web pages and plain JSON in a 200 answer
 * - tool calls without a name, or with values of other types, end the run
 * - a stream that breaks off: announced tool calls are still reported, with half of their arguments
 *
 * Whatever goes wrong becomes an error frame in its place in the stream, so that no text before it is lost.
 */
import { createSseParser, type SseEvent } from './sse-events.ts';
import { toolCallRepair } from './tool-call-frames.ts';

/** `type` of the error frames that are ours; other types are the server's. */
export const ownErrorType = { cut: 'newt_cut', page: 'newt_page', malformed: 'newt_malformed' } as const;

interface WireError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string | number;
}

/** Characters of one event; whole answers are far shorter. */
const longestEvent = 16_000_000;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Text of a response body to text of a well-formed event stream, which ends with an error or with
 * `[DONE]`, whatever the server sends after it. `onDone` is told of the latter.
 */
export function chatFrames(onDone: () => void = () => undefined): TransformStream<string, string> {
  let opening = '';
  let body: BodyKind = 'unknown';
  let finished = false;
  let over = false;
  const mendCalls = toolCallRepair();
  let write: (frame: string) => void = () => undefined;

  const emit = (value: object | string): void => write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
  const fail = (error: WireError): void => {
    over = true;
    emit({ error });
  };
  const takeChunk = (value: unknown, event: string): void => {
    const chunk = isObject(value) ? value : {};
    const error = errorIn(chunk, event);
    if (error) return fail(error);
    const choices = (Array.isArray(chunk.choices) ? (chunk.choices as readonly unknown[]) : []).map((choice) => (isObject(choice) ? mended(choice) : choice));
    finished ||= choices.some((choice) => isObject(choice) && isFinish(choice));
    emit({ ...chunk, choices });
  };
  const mended = (choice: JsonObject): JsonObject => {
    const delta = isObject(choice.delta) ? choice.delta : {};
    const calls = mendCalls(delta.tool_calls, isFinish(choice));
    return calls.length === 0 && !('tool_calls' in delta) ? choice : { ...choice, delta: { ...delta, tool_calls: calls } };
  };
  const takeData = (data: string, { event, closed }: SseEvent): void => {
    if (over || !data.trim()) return;
    if (data.trim() === '[DONE]') {
      if (!finished) emit({ choices: [mended({ index: 0, delta: {}, finish_reason: 'stop' })] });
      finished = over = true;
      onDone();
      return emit('[DONE]');
    }
    const value = parsed(data);
    if (value !== undefined) return takeChunk(value, event);
    if (data.includes('\n')) for (const line of data.split('\n')) takeData(line, { event, data: line, closed });
    else if (event === 'error') fail({ message: data });
    else if (closed && !finished) fail({ message: data.slice(0, 200), type: ownErrorType.malformed });
  };
  const parser = createSseParser((event) => takeData(event.data, event), longestEvent);
  const tooLong = (): void => fail({ message: `one event of more than ${longestEvent / 1e6} MB`, type: ownErrorType.malformed });
  const push = (text: string): void => {
    if (!parser.push(text) && !over) tooLong();
  };

  return new TransformStream({
    start(controller) {
      write = (frame) => controller.enqueue(frame);
    },
    transform(text, controller) {
      if (body === 'events') push(text);
      else {
        opening = body === 'unknown' ? (opening + text).trimStart() : opening + text;
        if (body === 'unknown') body = bodyKind(opening);
        if (body === 'events') push(opening);
        if (body === 'json' && opening.length > longestEvent) tooLong();
        if (body === 'page') fail({ message: pageTitle(opening), type: ownErrorType.page });
      }
      if (over) controller.terminate();
    },
    flush() {
      if (body === 'json') takeChunk(chunkOfCompletion(parsed(opening)), '');
      else parser.end();
      if (!over && !finished) fail({ message: 'the stream ended before the answer was complete', type: ownErrorType.cut });
    },
  });
}

type BodyKind = 'unknown' | 'events' | 'json' | 'page';

function isFinish({ finish_reason: reason }: JsonObject): boolean {
  return typeof reason === 'string' && reason !== '';
}

/** Told by the first character: content types cannot be relied on, and no line of an event stream starts so. */
function bodyKind(text: string): BodyKind {
  const [first] = text;
  return first === undefined ? 'unknown' : first === '<' ? 'page' : first === '{' ? 'json' : 'events';
}

/** The error a chunk reports: `{"error": …}` of any shape, `event: error`, or vLLM's `{"object": "error"}`. */
function errorIn(chunk: JsonObject, event: string): WireError | undefined {
  const { error } = chunk;
  if (typeof error === 'string' && error) return { message: error };
  if (isObject(error)) return wireError(error);
  return event === 'error' || chunk.object === 'error' ? wireError(chunk) : undefined;
}

function wireError({ message, type, code, status }: JsonObject): WireError {
  const number = code ?? status;
  return {
    message: typeof message === 'string' && message ? message : 'no reason given',
    ...(typeof type === 'string' && type !== 'error' ? { type } : {}),
    ...(typeof number === 'string' || typeof number === 'number' ? { code: number } : {}),
  };
}

/** A server that ignores `stream: true` answers with one JSON object: the same as a single chunk. */
function chunkOfCompletion(value: unknown): unknown {
  if (!isObject(value) || !Array.isArray(value.choices)) return value;
  const choices = (value.choices as readonly unknown[]).filter(isObject).map(({ message, ...choice }) => ({ ...choice, delta: deltaOf(message) }));
  return { ...value, choices };
}

function deltaOf(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return message;
  return { ...message, tool_calls: (message.tool_calls as readonly unknown[]).filter(isObject).map((call, index) => ({ index, ...call })) };
}

function pageTitle(html: string): string {
  return /<title[^>]*>([^<]{1,100})/i.exec(html)?.[1]?.trim() ?? '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
