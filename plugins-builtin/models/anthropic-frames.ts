/**
 * Makes of whatever a server streams an Anthropic event stream that the AI SDK understands. The SDK checks every
 * event against a schema and ends the run at the first it does not know; it also never reports a block that is not
 * closed, and takes a stream without `message_stop` for broken off although the answer is whole. So every event is
 * written anew, with what the schema wants, and:
 *
 * - blocks that were not opened are opened, and those that were not closed are closed when the answer is whole
 * - text, thinking and arguments that come with the start of a block are kept; arguments that come twice count once
 * - tool calls get a name; blocks and deltas of kinds nobody asked for are left out
 * - a second `message_start` and events of later versions do not matter
 * - pings go on, for a while: a model that thinks in silence has not stalled
 * - errors of any shape get the HTTP status that their type stands for
 */
import { anthropicBlocks } from './anthropic-blocks.ts';
import { errorIn, isObject, type JsonObject, mendedStream, ownErrorType, type WireError } from './mended-stream.ts';

/** HTTP status of the error types, which the stream does not carry: https://docs.claude.com/en/api/errors */
const errorStatus: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** Pings in a row that count as life; they come every ten seconds or so. */
const mostPings = 100;

/**
 * Text of a response body to text of a well-formed event stream, which ends with an error or with
 * `message_stop`, whatever the server sends after it. `onDone` is told of the latter.
 */
export function anthropicFrames(onDone: () => void = () => undefined): TransformStream<string, string> {
  return mendedStream(({ write, fail, finish }) => {
    let started = false;
    let stopReason: string | undefined;
    let usage: JsonObject = {};
    let pings = 0;
    const emit = (event: JsonObject): void => write(frame(event));
    const start = (message: JsonObject = {}): void => {
      if (started) return;
      started = true;
      emit(messageStart(message));
    };
    const blocks = anthropicBlocks((event) => {
      start();
      emit(event);
    });
    const complete = (): void => {
      start();
      blocks.closeAll();
      emit({ type: 'message_delta', delta: { stop_reason: stopReason }, usage: { output_tokens: 0, ...counts(usage) } });
      emit({ type: 'message_stop' });
      finish();
      onDone();
    };
    const take = (value: unknown, event: string): void => {
      const chunk = isObject(value) ? value : {};
      const error = errorIn(chunk, event);
      if (error) return fail(error);
      if (Array.isArray(chunk.choices)) return fail({ message: 'it speaks the wire openai-chat', type: ownErrorType.malformed });
      const type = typeof chunk.type === 'string' ? chunk.type : event;
      if (type !== 'ping') pings = 0;
      else if (started && ++pings <= mostPings) emit({ type });
      switch (type) {
        case 'message_start': {
          const message = isObject(chunk.message) ? chunk.message : {};
          return start(message);
        }
        case 'content_block_start':
          return blocks.open(chunk.index, isObject(chunk.content_block) ? chunk.content_block : {});
        case 'content_block_delta':
          return blocks.add(chunk.index, isObject(chunk.delta) ? chunk.delta : {});
        case 'content_block_stop':
          return blocks.close(chunk.index);
        case 'message_delta': {
          const reason = isObject(chunk.delta) ? chunk.delta.stop_reason : undefined;
          if (typeof reason === 'string' && reason) stopReason = reason;
          if (isObject(chunk.usage)) usage = chunk.usage;
          return;
        }
        case 'message_stop':
          stopReason ??= blocks.hasCalls() ? 'tool_use' : 'end_turn';
          return complete();
        case 'message':
          return takeMessage(chunk);
        default: // what later versions of the API send
      }
    };
    const takeMessage = (message: JsonObject): void => {
      start(message);
      const content = Array.isArray(message.content) ? (message.content as readonly unknown[]).filter(isObject) : [];
      for (const [index, block] of content.entries()) {
        blocks.open(index, block);
        blocks.close(index);
      }
      if (isObject(message.usage)) usage = message.usage;
      stopReason = typeof message.stop_reason === 'string' && message.stop_reason ? message.stop_reason : undefined;
      take({ type: 'message_stop' }, '');
    };
    return {
      take,
      takeWhole: (value) => take(value, ''),
      done: () => take({ type: 'message_stop' }, ''),
      isComplete: () => stopReason !== undefined,
      end: complete,
      // The SDK tells an error that comes first in another way, so that it would lose its type.
      errorFrames: (error) => [...(started ? [] : [frame(messageStart({}))]), frame({ type: 'error', error: withStatus(error) })],
    };
  });
}

function frame(event: JsonObject): string {
  return `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;
}

function messageStart({ id, model, usage }: JsonObject): JsonObject {
  const message = { ...(typeof id === 'string' && { id }), ...(typeof model === 'string' && { model }), role: 'assistant' };
  return { type: 'message_start', message: { ...message, usage: { input_tokens: 0, ...counts(isObject(usage) ? usage : {}) } } };
}

function counts(usage: JsonObject): JsonObject {
  const names = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
  return Object.fromEntries(names.flatMap((name) => (typeof usage[name] === 'number' ? [[name, usage[name]]] : [])));
}

function withStatus({ message, type = 'unknown', code: given }: WireError): JsonObject {
  const code = typeof given === 'number' ? given : (errorStatus[type] ?? given);
  return { message, type, ...(code !== undefined && { code }) };
}
