/** The content blocks of an Anthropic stream, each opened, filled and closed once, whatever order the server keeps. */
import { isObject, type JsonObject } from './mended-stream.ts';
import { nameOf, unnamed } from './tool-call-frames.ts';

type Kind = 'text' | 'thinking' | 'redacted_thinking' | 'tool_use';

interface OpenBlock {
  /** Undefined: of a kind nobody asked for; it is left out. */
  readonly kind: Kind | undefined;
  /** Its place in what is written: places are not reused, whatever the server numbers. */
  readonly index: number;
  /** Arguments that came with the start, until others follow. */
  input: string;
}

export interface AnthropicBlocks {
  open(index: unknown, block: JsonObject): void;
  add(index: unknown, delta: JsonObject): void;
  close(index: unknown): void;
  closeAll(): void;
  /** Whether there was a tool call among them. */
  hasCalls(): boolean;
}

export function anthropicBlocks(emit: (event: JsonObject) => void): AnthropicBlocks {
  const opened = new Map<unknown, OpenBlock>();
  let count = 0;
  let calls = 0;

  const delta = (block: OpenBlock, part: JsonObject): void => emit({ type: 'content_block_delta', index: block.index, delta: part });
  const begin = (key: unknown, kind: Kind | undefined, content: JsonObject): OpenBlock => {
    if (opened.has(key)) close(key);
    const block: OpenBlock = { kind, index: kind ? count++ : -1, input: '' };
    opened.set(key, block);
    if (kind) emit({ type: 'content_block_start', index: block.index, content_block: { type: kind, ...content } });
    return block;
  };
  const fill = (block: OpenBlock, member: 'text' | 'thinking' | 'signature', value: unknown): void => {
    const text = textOf(value);
    if (text) delta(block, { type: `${member}_delta`, [member]: text });
  };
  const open = (key: unknown, given: JsonObject): void => {
    switch (given.type) {
      case 'text':
        return fill(begin(key, 'text', { text: '' }), 'text', given.text);
      case 'thinking': {
        const block = begin(key, 'thinking', { thinking: '' });
        fill(block, 'thinking', given.thinking);
        return fill(block, 'signature', given.signature);
      }
      case 'redacted_thinking':
        begin(key, typeof given.data === 'string' ? 'redacted_thinking' : undefined, { data: given.data });
        return;
      case 'tool_use': {
        calls += 1;
        const block = begin(key, 'tool_use', { id: idOf(given.id), name: nameOf(given.name) ?? unnamed });
        block.input = argumentsOf(given.input);
        return;
      }
      default:
        begin(key, undefined, {});
    }
  };
  /** The block a delta belongs to; one that was not opened is. */
  const blockFor = (key: unknown, kind: Kind): OpenBlock | undefined => {
    const known = opened.get(key) ?? (key === undefined ? [...opened.values()].at(-1) : undefined);
    if (known) return known.kind === kind ? known : undefined;
    open(key, { type: kind });
    return opened.get(key);
  };
  const add = (key: unknown, part: JsonObject): void => {
    switch (part.type) {
      case 'text_delta': {
        const block = blockFor(key, 'text');
        return block && fill(block, 'text', part.text);
      }
      case 'thinking_delta': {
        const block = blockFor(key, 'thinking');
        return block && fill(block, 'thinking', part.thinking);
      }
      case 'signature_delta': {
        const block = blockFor(key, 'thinking');
        return block && fill(block, 'signature', part.signature);
      }
      case 'input_json_delta': {
        const block = blockFor(key, 'tool_use');
        const text = argumentsOf(part.partial_json);
        if (!block || !text) return;
        block.input = '';
        return delta(block, { type: 'input_json_delta', partial_json: text });
      }
      default: // citations, and what later versions of the API send
    }
  };
  const close = (key: unknown): void => {
    const at = opened.has(key) ? key : key === undefined ? [...opened.keys()].at(-1) : undefined;
    const block = opened.get(at);
    if (!block) return;
    opened.delete(at);
    if (!block.kind) return;
    if (block.input) delta(block, { type: 'input_json_delta', partial_json: block.input });
    emit({ type: 'content_block_stop', index: block.index });
  };
  const closeAll = (): void => {
    for (const key of [...opened.keys()]) close(key);
  };
  return { open, add, close, closeAll, hasCalls: () => calls > 0 };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function idOf(id: unknown): string {
  return typeof id === 'string' || typeof id === 'number' ? String(id).trim() : '';
}

/** Text as it is; an object, which some servers send whole, as JSON. An empty one is what precedes the deltas. */
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isObject(value)) return Object.keys(value).length > 0 ? JSON.stringify(value) : '';
  return Array.isArray(value) ? JSON.stringify(value) : '';
}
