/** A conversation as the Anthropic API takes it: its rules on names, ids and empty text, and where to cache. */
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];
type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number];

/** Everything up to here is read from the cache the next time. */
const cacheHere = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;

/** The prompt, with the fixed text and the last message as ends of what is cached. Tools come before both. */
export function anthropicPrompt(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const last = prompt.length - 1;
  const lastSystem = prompt.findLastIndex(({ role }) => role === 'system');
  return prompt.map((message, index) => {
    const fit = fitting(message);
    return index === last || index === lastSystem ? { ...fit, providerOptions: { ...cacheHere, ...fit.providerOptions } } : fit;
  });
}

/**
 * Whether the turn that goes on began with signed thoughts, or begins now: the API refuses to think in a turn of tool
 * calls that began without.
 */
export function beginsWithThought(prompt: LanguageModelV4Prompt): boolean {
  // Images that tools return follow as a message of the user: the API sees one message of results.
  const asked = prompt.findLastIndex(({ role }, index) => role === 'user' && prompt[index - 1]?.role !== 'tool');
  const first = prompt.find((message, index) => index > asked && message.role === 'assistant');
  if (!first || first.role !== 'assistant') return true;
  const [part] = first.content;
  return part?.type === 'reasoning' && part.providerOptions?.anthropic !== undefined;
}

function fitting(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role === 'assistant') return { ...message, content: message.content.filter(isSaid).map(withFittingNames) };
  if (message.role === 'tool') return { ...message, content: message.content.map((part) => withWords(withFittingNames(part))) };
  return message;
}

/** White space alone is refused, as is an unsigned thought. */
function isSaid(part: AssistantPart): boolean {
  return part.type === 'text' ? part.text.trim() !== '' : part.type !== 'reasoning' || part.providerOptions?.anthropic !== undefined;
}

/** Calls another model made, or made up, keep their names and ids apart from the characters that are refused. */
function withFittingNames<Part extends AssistantPart | ToolPart>(part: Part): Part {
  return part.type === 'tool-call' || part.type === 'tool-result' ? { ...part, toolCallId: fittingName(part.toolCallId), toolName: fittingName(part.toolName) } : part;
}

function fittingName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 128) || '_';
}

/** An error without words is refused. */
function withWords(part: ToolPart): ToolPart {
  const isBlank = part.type === 'tool-result' && part.output.type === 'error-text' && part.output.value.trim() === '';
  return isBlank ? { ...part, output: { type: 'error-text', value: 'failed without a word' } } : part;
}
