/** The `fetch` given to the AI SDK: well-formed text in the request, a well-framed stream in the answer. */
import type { Fetch } from './endpoints.ts';

export const eventStream = 'text/event-stream';

/** Makes a well-formed event stream of the text of an answer, and tells when the answer is whole. */
type Frames = (onDone: () => void) => TransformStream<string, string>;

/**
 * Wraps `fetch`. Answers to requests that accept an event stream are reframed by `frames`;
 * a socket that closes early ends them like any other premature end, in the order of the stream.
 */
export function createSseFetch(fetch: Fetch, frames: Frames): typeof globalThis.fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : input;
    const body = typeof init?.body === 'string' ? wellFormedJson(init.body) : init?.body;
    const response = await fetch(url, { ...init, body });
    const streams = new Headers(init?.headers).get('accept') === eventStream;
    if (!response.ok || !response.body || !streams) return response;
    let complete = false;
    const stream = endingOnBreak(response.body, { signal: init?.signal ?? undefined, isComplete: () => complete })
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(frames(() => (complete = true)))
      .pipeThrough(new TextEncoderStream());
    return new Response(stream, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

const escapes = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[^])/g;
const loneEscapeLength = '\\ud83d'.length;

/**
 * Replaces lone surrogates, written out or as `\ud83d`, by U+FFFD: JSON allows the escape, yet servers
 * refuse the whole request over it. An escaped backslash before `ud83d` is text and stays.
 */
export function wellFormedJson(json: string): string {
  const text = json.toWellFormed();
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replace(escapes, (escape) => (escape.length === loneEscapeLength ? '\ufffd' : escape));
}

interface BodyState {
  readonly signal: AbortSignal | undefined;
  /** True once the answer is complete, so that what is left of the body is only its end. */
  readonly isComplete: () => boolean;
}

/** The stream, which ends where the connection breaks. Only an abort remains an error. */
function endingOnBreak(source: ReadableStream<Uint8Array>, { signal, isComplete }: BodyState): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array<ArrayBuffer>);
      } catch (error) {
        if (signal?.aborted) controller.error(error);
        else controller.close();
      }
    },
    cancel: (reason) => (isComplete() ? readToEnd(reader) : reader.cancel(reason)),
  });
}

const endDeadline = 1_000;

/** A body that is read to its end leaves the connection open for the next request; a cancelled one closes it. */
async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), endDeadline);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is complete: how its connection ends does not matter.
  } finally {
    clearTimeout(timer);
  }
}
