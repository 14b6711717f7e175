/** What the scripted model server answers, and the bytes that say so on the OpenAI chat-completions wire. */

export interface ScriptedToolCall {
  /** Default: `call_1`, `call_2`, … within the reply. */
  readonly id?: string;
  readonly name: string;
  /** A string is sent as it is, so that a script can send malformed JSON. */
  readonly arguments: object | string;
}

export interface ScriptedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
}

/** One answer. A chunk is one text, reasoning or tool-call delta; `gateAfter` and `cutAfter` count chunks. */
export interface Reply {
  /** An array is sent as one chunk per element. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Thinking that only the server can read, on the Anthropic wire. */
  readonly redacted?: string;
  /** Sent when the request asks for usage; `false`: never. */
  readonly usage?: ScriptedUsage | false;
  /** Default: `tool_calls` or `stop`. */
  readonly finish?: string;
  /** Milliseconds before the answer starts. */
  readonly delayMs?: number;
  /** Holds the stream open after `gateAfter` chunks (default 1) until it settles. */
  readonly gate?: Promise<unknown>;
  readonly gateAfter?: number;
  /** Destroys the socket after so many chunks; with `rawSse`, so many packets. */
  readonly cutAfter?: number;
  /** HTTP status; 400 and above answer with `body`, or with an error object as the wire has it. */
  readonly status?: number;
  /** The words of that error object. */
  readonly says?: string;
  /** Sent in place of everything else; an object as JSON. */
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The event stream byte for byte: each buffer is a packet of its own, a string is one packet. */
  readonly rawSse?: string | readonly Buffer[];
}

export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
  readonly tool_call_id?: string;
}

/** The request body as clients of the OpenAI wire send it; of other wires what it would be there. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly description?: string; readonly parameters: unknown } }[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly [key: string]: unknown;
}

export const defaultUsage: ScriptedUsage = { inputTokens: 10, outputTokens: 5 };
const created = 1_700_000_000;

/** Chunks of the reply, in the order real servers use: reasoning, text, tool calls. */
function replyDeltas(reply: Reply): object[] {
  return [
    ...listed(reply.reasoning).map((text) => ({ reasoning_content: text })),
    ...listed(reply.text).map((text) => ({ content: text })),
    ...(reply.toolCalls ?? []).flatMap(toolCallDeltas),
  ];
}

/** The chunk that carries one delta. */
function deltaChunk(model: string, delta: object, finish: string | null = null): object {
  return { ...head(model, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finish }] };
}

/** The chunk without choices that ends a stream whose request asked for usage. */
function usageChunk(model: string, reply: Reply): object | undefined {
  const usage = wireUsage(reply);
  return usage && { ...head(model, 'chat.completion.chunk'), choices: [], usage };
}

/** The answer to a request without `stream`. */
function completion(model: string, reply: Reply): object {
  const calls = (reply.toolCalls ?? []).map((call, index) => ({
    id: callId(call, index),
    type: 'function',
    function: { name: call.name, arguments: argumentText(call) },
  }));
  const message = {
    role: 'assistant',
    content: listed(reply.text).join('') || null,
    ...(reply.reasoning === undefined ? {} : { reasoning_content: listed(reply.reasoning).join('') }),
    ...(calls.length ? { tool_calls: calls } : {}),
  };
  return { ...head(model, 'chat.completion'), choices: [{ index: 0, message, finish_reason: finishOf(reply) }], usage: wireUsage(reply) };
}

/** The body of an error that the script gives by status, and perhaps by words. */
function errorBody(status: number, says?: string): object {
  const code = says === undefined ? undefined : { 401: 'invalid_api_key', 404: 'model_not_found' }[status];
  return { error: { message: says ?? `scripted error ${status}`, type: status >= 500 ? 'server_error' : 'invalid_request_error', code: code ?? null } };
}

/** What a wire makes of requests and replies. */
export interface ServerWire {
  /** Path of its requests. */
  readonly path: string;
  /** The request in the words of the OpenAI wire, so that a test reads one on any wire in the same way. */
  request(sent: unknown): ChatRequest;
  /** Why the server refuses it, if it does. */
  refusal(sent: unknown): string | undefined;
  models(ids: readonly string[]): object;
  error(status: number, says?: string): object;
  /** The answer to a request without `stream`. */
  whole(request: ChatRequest, reply: Reply): object;
  opening(request: ChatRequest, reply: Reply): readonly string[];
  /** One item per chunk. */
  chunks(request: ChatRequest, reply: Reply): readonly string[];
  closing(request: ChatRequest, reply: Reply): readonly string[];
}

export const openaiWire: ServerWire = {
  path: '/v1/chat/completions',
  request: (sent) => sent as ChatRequest,
  refusal: () => undefined,
  models: (ids) => ({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) }),
  error: errorBody,
  whole: ({ model }, reply) => completion(model, reply),
  opening: ({ model }) => [sse(deltaChunk(model, { role: 'assistant', content: '' }))],
  chunks: ({ model }, reply) => replyDeltas(reply).map((delta) => sse(deltaChunk(model, delta))),
  closing({ model, stream_options: options }, reply) {
    const usage = options?.include_usage ? usageChunk(model, reply) : undefined;
    return [sse(deltaChunk(model, {}, finishOf(reply))), ...(usage ? [sse(usage)] : []), sse('[DONE]')];
  },
};

function finishOf(reply: Reply): string {
  return reply.finish ?? (reply.toolCalls?.length ? 'tool_calls' : 'stop');
}

function sse(data: object | string): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

export function listed(text: string | readonly string[] | undefined): readonly string[] {
  return text === undefined ? [] : typeof text === 'string' ? [text] : text;
}

function toolCallDeltas(call: ScriptedToolCall, index: number): object[] {
  const opening = { index, id: callId(call, index), type: 'function', function: { name: call.name, arguments: '' } };
  const rest = inPieces(argumentText(call), 3).map((piece) => ({ index, function: { arguments: piece } }));
  return [opening, ...rest].map((delta) => ({ tool_calls: [delta] }));
}

export function callId(call: ScriptedToolCall, index: number): string {
  return call.id ?? `call_${index + 1}`;
}

export function argumentText(call: ScriptedToolCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}

export function inPieces(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}

function wireUsage(reply: Reply): object | undefined {
  if (reply.usage === false) return undefined;
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = reply.usage ?? defaultUsage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(reasoningTokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}

function head(model: string, object: string): object {
  return { id: 'chatcmpl-scripted', object, created, model };
}
