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
 */
import { errorIn, isObject, type JsonObject, mendedStream, ownErrorType } from './mended-stream.ts';
import { toolCallRepair } from './tool-call-frames.ts';

/**
 * Text of a response body to text of a well-formed event stream, which ends with an error or with
 * `[DONE]`, whatever the server sends after it. `onDone` is told of the latter.
 */
export function chatFrames(onDone: () => void = () => undefined): TransformStream<string, string> {
  return mendedStream(({ write, fail, finish }) => {
    let finished = false;
    const mendCalls = toolCallRepair();
    const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
    const mended = (choice: JsonObject): JsonObject => {
      const delta = isObject(choice.delta) ? choice.delta : {};
      const calls = mendCalls(delta.tool_calls, isFinish(choice));
      return calls.length === 0 && !('tool_calls' in delta) ? choice : { ...choice, delta: { ...delta, tool_calls: calls } };
    };
    const take = (value: unknown, event: string): void => {
      const chunk = isObject(value) ? value : {};
      const error = errorIn(chunk, event);
      if (error) return fail(error);
      if (chunk.type === 'message_start' || chunk.type === 'message') return fail({ message: 'it speaks the wire anthropic', type: ownErrorType.malformed });
      const choices = (Array.isArray(chunk.choices) ? (chunk.choices as readonly unknown[]) : []).map((choice) => (isObject(choice) ? mended(choice) : choice));
      finished ||= choices.some((choice) => isObject(choice) && isFinish(choice));
      write(frame({ ...chunk, choices }));
    };
    return {
      take,
      takeWhole: (value) => take(chunkOfCompletion(value), ''),
      done() {
        if (!finished) write(frame({ choices: [mended({ index: 0, delta: {}, finish_reason: 'stop' })] }));
        finished = true;
        finish();
        onDone();
        write('data: [DONE]\n\n');
      },
      isComplete: () => finished,
      end: () => undefined,
      errorFrames: (error) => [frame({ error })],
    };
  });
}

function isFinish({ finish_reason: reason }: JsonObject): boolean {
  return typeof reason === 'string' && reason !== '';
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
