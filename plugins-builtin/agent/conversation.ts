/** The conversation as the model gets it: grown message by message, or read back from the log of a session that ended. */
import type { Event, Json, Message } from 'newt-agent';
import { type Answer, assistantMessage } from './model-turn.ts';
import type { CallResult } from './tool-round.ts';

type Part = { readonly [key: string]: Json };

export class Conversation {
  #messages: readonly Message[];

  constructor(system: string) {
    this.#messages = [{ role: 'system', content: system }];
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  say(text: string): void {
    this.#add({ role: 'user', content: [{ type: 'text', text }] });
  }

  answer(answer: Pick<Answer, 'text' | 'calls' | 'reasoningParts'>): void {
    // A message without content is one that some servers refuse to be sent back.
    if (answer.text || answer.calls.length > 0) this.#add(assistantMessage(answer));
  }

  /** What the calls of the last answer came to. `note` is added to the last one. */
  observe(results: readonly Pick<CallResult, 'call' | 'text' | 'isError' | 'images'>[], note: (text: string) => string = (text) => text): void {
    const content = results.map(({ call, text, isError }, index): Part => {
      const value = index === results.length - 1 ? note(text) : text;
      return { type: 'tool-result', toolCallId: call.id, toolName: call.name, output: { type: isError ? 'error-text' : 'text', value } };
    });
    this.#add({ role: 'tool', content });
    const images = results.flatMap((result) => result.images);
    if (images.length === 0) return;
    const parts = images.map(({ mediaType, base64 }): Part => ({ type: 'file', mediaType, data: { type: 'data', data: base64 } }));
    this.#add({ role: 'user', content: [{ type: 'text', text: 'The images the tools returned:' }, ...parts] });
  }

  #add(message: Message): void {
    this.#messages = [...this.#messages, message];
  }
}

const lost = 'The agent ended before this call had a result; it may have run, in part or whole.';

/**
 * Adds what a log tells of. An answer that was cut off is left out, as it was while the session ran; a call that
 * the end of the process left open gets a result that says so, because no server takes a call without one.
 */
export function replay(conversation: Conversation, events: readonly Event[]): void {
  let open: Answer['calls'] = [];
  let thoughts: Answer['reasoningParts'];
  let results = new Map<string, { readonly text: string; readonly isError: boolean }>();
  const settle = (): void => {
    if (open.length > 0) conversation.observe(open.map((call) => ({ call, images: [], ...(results.get(call.id) ?? { text: lost, isError: true }) })));
    open = [];
    results = new Map();
  };
  for (const { type, data } of events) {
    if (type === 'request') thoughts = undefined;
    else if (type === 'reasoning') thoughts = data.parts as Answer['reasoningParts'];
    else if (type === 'tool.result') results.set(data.call, data);
    else if (type === 'user' || type === 'steer') {
      settle();
      conversation.say(data.text);
    } else if (type === 'assistant' && !data.partial) {
      settle();
      conversation.answer({ ...data, ...(thoughts && { reasoningParts: thoughts }) });
      open = data.calls;
    }
  }
  settle();
}
