/** Server-sent events out of text that arrives in arbitrary pieces. */

export interface SseEvent {
  /** Empty when the event has no type. */
  readonly event: string;
  /** Lines of data, joined by a newline. */
  readonly data: string;
  /** False for what the stream ended with, when no blank line closed it. */
  readonly closed: boolean;
}

export interface SseParser {
  push(text: string): void;
  /** The stream is over: reports what is left, although no blank line closed it. */
  end(): void;
}

/**
 * Parses the event-stream format of the HTML standard (section 9.2.6): lines end in CR, LF or CRLF, in
 * any mixture. Events without data and comments are not reported. A CR ends its line at once, so that
 * nothing waits for an LF that may never come.
 */
export function createSseParser(onEvent: (event: SseEvent) => void): SseParser {
  let rest = '';
  let afterCarriageReturn = false;
  let event = '';
  let data: string[] = [];

  const dispatch = (closed: boolean): void => {
    const lines = data;
    const type = event;
    data = [];
    event = '';
    if (lines.length) onEvent({ event: type, data: lines.join('\n'), closed });
  };
  const takeLine = (line: string): void => {
    if (line === '') return dispatch(true);
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
  };

  return {
    push(text) {
      if (!text) return;
      const input = rest + (afterCarriageReturn && text.startsWith('\n') ? text.slice(1) : text);
      afterCarriageReturn = text.endsWith('\r');
      const lines = input.split(/\r\n|\n|\r/);
      rest = lines.pop() ?? '';
      for (const line of lines) takeLine(line);
    },
    end() {
      if (rest) takeLine(rest);
      rest = '';
      dispatch(false);
    },
  };
}
