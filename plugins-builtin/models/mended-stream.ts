/**
 * What mending an event stream is on every wire: the body is told apart by how it begins, its events are read, and
 * whatever goes wrong becomes an error frame in its place in the stream, so that no text before it is lost.
 */
import { createSseParser, type SseEvent } from './sse-events.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** `type` of the error frames that are ours; other types are the server's. */
export const ownErrorType = { cut: 'newt_cut', page: 'newt_page', malformed: 'newt_malformed' } as const;

export interface WireError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string | number;
}

/** What a wire does with what arrives. Nothing is called any more once it failed or finished. */
export interface WireReader {
  /** One event whose data is JSON; `event` is its type, empty without one. */
  take(value: unknown, event: string): void;
  /** The data `[DONE]`. */
  done(): void;
  /** The whole body is one JSON object: of a server that ignores `stream: true`, or an error. */
  takeWhole(value: unknown): void;
  /** Whether the answer is whole should the stream end here. */
  isComplete(): boolean;
  /** The stream ended where it may. */
  end(): void;
  /** The frames that tell an error. */
  errorFrames(error: WireError): readonly string[];
}

export interface WireOutput {
  write(frame: string): void;
  fail(error: WireError): void;
  /** The answer is whole: what the server sends after it does not count. */
  finish(): void;
}

/** Characters of one event; whole answers are far shorter. */
const longestEvent = 16_000_000;

/** Text of a response body to text of a well-formed event stream, which ends with an error or a whole answer. */
export function mendedStream(wire: (output: WireOutput) => WireReader): TransformStream<string, string> {
  let opening = '';
  let body: BodyKind = 'unknown';
  let over = false;
  let write: (frame: string) => void = () => undefined;

  const fail = (error: WireError): void => {
    if (over) return;
    over = true;
    for (const frame of reader.errorFrames(error)) write(frame);
  };
  const reader = wire({ write: (frame) => write(frame), fail, finish: () => void (over = true) });
  const takeData = (data: string, { event, closed }: SseEvent): void => {
    if (over || !data.trim()) return;
    if (data.trim() === '[DONE]') return reader.done();
    const value = parsed(data);
    if (value !== undefined) return reader.take(value, event);
    if (data.includes('\n')) for (const line of data.split('\n')) takeData(line, { event, data: line, closed });
    else if (event === 'error') fail({ message: data });
    else if (closed && !reader.isComplete()) fail({ message: data.slice(0, 200), type: ownErrorType.malformed });
  };
  const parser = createSseParser((event) => takeData(event.data, event), longestEvent);
  const tooLong = (): void => fail({ message: `one event of more than ${longestEvent / 1e6} MB`, type: ownErrorType.malformed });
  const push = (text: string): void => {
    if (!parser.push(text)) tooLong();
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
      if (body === 'json') reader.takeWhole(parsed(opening));
      else parser.end();
      if (over) return;
      if (reader.isComplete()) reader.end();
      else fail({ message: 'the stream ended before the answer was complete', type: ownErrorType.cut });
    },
  });
}

type BodyKind = 'unknown' | 'events' | 'json' | 'page';

/** Told by the first character: content types cannot be relied on, and no line of an event stream starts so. */
function bodyKind(text: string): BodyKind {
  const [first] = text;
  return first === undefined ? 'unknown' : first === '<' ? 'page' : first === '{' ? 'json' : 'events';
}

/** The error an event reports: `{"error": …}` of any shape, `event: error`, or an object of the type `error`. */
export function errorIn(chunk: JsonObject, event: string): WireError | undefined {
  const { error } = chunk;
  if (typeof error === 'string' && error) return { message: error };
  if (isObject(error)) return wireError(error);
  return event === 'error' || chunk.object === 'error' || chunk.type === 'error' ? wireError(chunk) : undefined;
}

function wireError({ message, type, code, status }: JsonObject): WireError {
  const number = code ?? status;
  return {
    message: typeof message === 'string' && message ? message : 'no reason given',
    ...(typeof type === 'string' && type !== 'error' ? { type } : {}),
    ...(typeof number === 'string' || typeof number === 'number' ? { code: number } : {}),
  };
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

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
