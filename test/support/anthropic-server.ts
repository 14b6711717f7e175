/**
 * The Anthropic Messages wire of the scripted model server. Like the API it is strict: a conversation that the API
 * refuses is answered with status 400 and the rule it breaks, so that a test over this wire shows the rules are kept.
 */
import { createHash } from 'node:crypto';
import { argumentText, callId, type ChatMessage, type ChatRequest, defaultUsage, inPieces, listed, type Reply, type ServerWire } from './model-reply.ts';
import { type ModelServer, type ModelServerOptions, type Script, startModelServer } from './model-server.ts';

/** Starts a scripted server that speaks the Anthropic wire. */
export function startAnthropicServer(script: Script, options: ModelServerOptions = {}): Promise<ModelServer> {
  return startModelServer(script, { ...options, wire: anthropicWire });
}

export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Block[];
  readonly cache_control?: unknown;
}

/** A request as it is sent over this wire. */
export interface MessagesRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly temperature?: number;
  readonly stream?: boolean;
  readonly system?: readonly Block[];
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
  readonly tools?: readonly { readonly name: string; readonly description?: string; readonly input_schema: unknown }[];
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number };
}

export const anthropicWire: ServerWire = {
  path: '/v1/messages',
  request: (sent) => asChat(sent as MessagesRequest),
  refusal: (sent) => brokenRule(sent as MessagesRequest),
  models: (ids) => ({ data: ids.map((id) => ({ type: 'model', id, display_name: id })), has_more: false }),
  error: (status, says) => ({ type: 'error', error: { type: errorTypes[status] ?? 'api_error', message: says ?? `scripted error ${status}` } }),
  whole: ({ model }, reply) => ({ ...message(model, reply), content: blocksOf(reply), stop_reason: stopReason(reply), usage: usageOf(reply) }),
  opening: ({ model }, reply) => [
    frame({ type: 'message_start', message: { ...message(model, reply), content: [], usage: { ...usageOf(reply), output_tokens: 1 } } }),
    frame({ type: 'ping' }),
  ],
  chunks: (_, reply) => chunksOf(reply),
  closing: (_, reply) => [
    frame({ type: 'message_delta', delta: { stop_reason: stopReason(reply), stop_sequence: null }, usage: { output_tokens: usageOf(reply).output_tokens } }),
    frame({ type: 'message_stop' }),
  ],
};

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error', 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 413: 'request_too_large', 429: 'rate_limit_error', 529: 'overloaded_error',
};

/** What the server signs a thought with, so that it knows it again. */
export function signatureOf(thinking: string): string {
  return createHash('sha256').update(`scripted ${thinking}`).digest('base64');
}

export function frame(event: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function message(model: string, { id }: { readonly id?: string } & Reply): object {
  return { id: id ?? 'msg_scripted', type: 'message', role: 'assistant', model, stop_reason: null, stop_sequence: null };
}

function stopReason(reply: Reply): string {
  return reply.finish ?? (reply.toolCalls?.length ? 'tool_use' : 'end_turn');
}

function usageOf({ usage }: Reply): { readonly input_tokens: number; readonly output_tokens: number; readonly cache_read_input_tokens: number } {
  const { inputTokens, outputTokens, cachedTokens = 0 } = usage || defaultUsage;
  return { input_tokens: inputTokens - cachedTokens, output_tokens: outputTokens, cache_read_input_tokens: cachedTokens };
}

function blocksOf(reply: Reply): Block[] {
  const thinking = listed(reply.reasoning).join('');
  const text = listed(reply.text).join('');
  return [
    ...(thinking ? [{ type: 'thinking', thinking, signature: signatureOf(thinking) }] : []),
    ...(reply.redacted === undefined ? [] : [{ type: 'redacted_thinking', data: reply.redacted }]),
    ...(text ? [{ type: 'text', text }] : []),
    ...(reply.toolCalls ?? []).map((call, index) => ({ type: 'tool_use', id: callId(call, index), name: call.name, input: JSON.parse(argumentText(call)) as unknown })),
  ];
}

/** The frames of the blocks: each delta is a chunk, with the start of its block before and the end behind it. */
function chunksOf(reply: Reply): string[] {
  const chunks: string[] = [];
  let index = -1;
  const block = (start: object, deltas: readonly object[]): void => {
    index += 1;
    const opening = frame({ type: 'content_block_start', index, content_block: start });
    const frames = deltas.map((delta) => frame({ type: 'content_block_delta', index, delta }));
    frames[0] = opening + (frames[0] ?? '');
    frames[frames.length - 1] += frame({ type: 'content_block_stop', index });
    chunks.push(...frames);
  };
  const thinking = listed(reply.reasoning);
  if (thinking.length > 0) {
    const deltas = thinking.map((piece) => ({ type: 'thinking_delta', thinking: piece }));
    block({ type: 'thinking', thinking: '', signature: '' }, [...deltas, { type: 'signature_delta', signature: signatureOf(thinking.join('')) }]);
  }
  if (reply.redacted !== undefined) block({ type: 'redacted_thinking', data: reply.redacted }, []);
  if (listed(reply.text).join('') !== '') block({ type: 'text', text: '' }, listed(reply.text).map((text) => ({ type: 'text_delta', text })));
  for (const [at, call] of (reply.toolCalls ?? []).entries()) {
    const pieces = ['', ...inPieces(argumentText(call), 3)];
    block({ type: 'tool_use', id: callId(call, at), name: call.name, input: {} }, pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })));
  }
  return chunks;
}

function contentOf(content: string | readonly Block[]): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function asChat({ model, max_tokens, temperature, stream, system, messages, tools }: MessagesRequest): ChatRequest {
  const said = messages.flatMap(({ role, content }): ChatMessage[] => {
    const blocks = contentOf(content);
    const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('');
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id = '', name = '', input }) => ({ id, function: { name, arguments: JSON.stringify(input) } }));
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => ({ role: 'tool', tool_call_id: block.tool_use_id ?? '', content: block.content }));
    return [...results, ...(text || calls.length > 0 || results.length === 0 ? [{ role, content: text, ...(calls.length > 0 && { tool_calls: calls }) }] : [])];
  });
  return {
    model,
    max_tokens,
    ...(temperature !== undefined && { temperature }),
    ...(stream !== undefined && { stream }),
    messages: [...(system ? [{ role: 'system', content: system.map(({ text }) => text).join('\n') }] : []), ...said],
    ...(tools && { tools: tools.map(({ name, description, input_schema }) => ({ function: { name, ...(description !== undefined && { description }), parameters: input_schema } })) }),
  };
}

/** The first rule of the API that the request breaks: https://docs.claude.com/en/api/messages */
function brokenRule({ max_tokens, temperature, thinking, messages, tools, system }: MessagesRequest): string | undefined {
  if (!(max_tokens > 0)) return 'max_tokens: Field required';
  if (temperature !== undefined && (temperature > 1 || temperature < 0)) return 'temperature: range: 0..1';
  if (thinking?.type === 'enabled') {
    if (!((thinking.budget_tokens ?? 0) >= 1024)) return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
    if (max_tokens <= (thinking.budget_tokens ?? 0)) return '`max_tokens` must be greater than `thinking.budget_tokens`';
    if (temperature !== undefined && temperature !== 1) return '`temperature` may only be set to 1 when thinking is enabled';
  }
  for (const { name } of tools ?? []) if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return `tools: name "${name}" does not match`;
  const marks = [...(system ?? []), ...messages.flatMap(({ content }) => contentOf(content))].filter((block) => block.cache_control !== undefined);
  if (marks.length > 4) return 'A maximum of 4 blocks with cache_control may be provided';
  for (const [at, { role, content }] of messages.entries()) {
    const blocks = contentOf(content);
    if (blocks.length === 0) return `messages.${at}: content must not be empty`;
    if (role === messages[at - 1]?.role) return `messages.${at}: roles must alternate`;
    const broken = blocks.map(brokenBlock).find((rule) => rule !== undefined);
    if (broken) return `messages.${at}.${broken}`;
    const asked = contentOf(messages[at - 1]?.content ?? []).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
    const answered = blocks.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id] : []));
    if (role === 'user' && JSON.stringify([...asked].sort()) !== JSON.stringify([...answered].sort())) return `messages.${at}: tool_use ids were found without tool_result blocks`;
  }
  return thinking?.type === 'enabled' ? brokenThinking(messages) : undefined;
}

function brokenBlock(block: Block): string | undefined {
  if (block.type === 'text' && !block.text?.trim()) return 'text: text content blocks must contain non-whitespace text';
  if (block.type === 'tool_use' && (!/^[a-zA-Z0-9_-]+$/.test(block.id ?? '') || !/^[a-zA-Z0-9_-]{1,200}$/.test(block.name ?? ''))) return 'tool_use: String should match pattern';
  if (block.type === 'thinking' && block.signature !== signatureOf(block.thinking ?? '')) return 'thinking: Invalid `signature` in `thinking` block';
  return undefined;
}

/** The last turn of the model, which tool results go on with, must begin as it began. */
function brokenThinking(messages: MessagesRequest['messages']): string | undefined {
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && !contentOf(content).some(({ type }) => type === 'tool_result'));
  const first = messages.slice(asked + 1).find(({ role }) => role === 'assistant');
  const [block] = first ? contentOf(first.content) : [];
  return block && !['thinking', 'redacted_thinking'].includes(block.type) ? `Expected \`thinking\` or \`redacted_thinking\`, but found \`${block.type}\`` : undefined;
}
