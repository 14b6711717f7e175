/** What a session has come to, told from the records of its log. */
import type { Event, Json, SessionStatus } from 'newt-agent';
import type { Conversation } from './conversation.ts';

/** Counts what goes by. */
export class Totals {
  #requests = 0;
  #toolCalls = 0;
  #input = 0;
  #output = 0;
  #last: number | undefined;

  add({ type, data }: Event): void {
    if (type === 'request') this.#requests += 1;
    else if (type === 'tool.call') this.#toolCalls += 1;
    else if (type === 'usage') {
      this.#input += data.inputTokens ?? 0;
      this.#output += data.outputTokens ?? 0;
      this.#last = data.inputTokens;
    }
  }

  /** @param tools as they are sent */
  status(about: Pick<SessionStatus, 'model' | 'scripted' | 'mode'>, { messages }: Conversation, tools: Json): SessionStatus {
    const [system, ...rest] = messages;
    return {
      ...about,
      requests: this.#requests,
      toolCalls: this.#toolCalls,
      tokens: { input: this.#input, output: this.#output },
      context: { messages: rest.length, tokens: this.#last, bytes: { system: bytesOf(system), tools: bytesOf(tools), conversation: bytesOf(rest) } },
    };
  }
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value ?? null));
}
