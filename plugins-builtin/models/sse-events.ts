/** Server-sent events out of text that arrives in arbitrary pieces. */

export interface SseEvent {
  /** Empty when the event has no type. */
  readonly event: string;
  /** Lines of data, joined by a newline. */
  readonly data: string;
  /** False for what the stream ended with, when no blank line closed it. */
  readonly closed: boolean;
}

interface SseParser {
  /** False once a line or an event is longer than `longest`: nothing is reported any more. */
  push(text: string): boolean;
  /** The stream is over: reports what is left, although no blank line closed it. */
  end(): void;
}

/**
 * Parses the event-stream format of the HTML standard (section 9.2.6): lines end in CR, LF or CRLF, in
 * any mixture. Events without data and comments are not reported. A CR ends its line at once, so that
 * nothing waits for an LF that may never come.
 *
 * @param longest characters of a line, and of the data of an event
 */
export function createSseParser(onEvent: (event: SseEvent) => void, longest = Infinity): SseParser {
  let rest = '';
  let size = 0;
  let broken = false;
  let afterCarriageReturn = false;
  let event = '';
  let data: string[] = [];

  const dispatch = (closed: boolean): void => {
    const lines = data;
    const type = event;
    data = [];
    event = '';
    size = 0;
    if (lines.length) onEvent({ event: type, data: lines.join('\n'), closed });
  };
  const takeLine = (line: string): void => {
    if (line === '') return dispatch(true);
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') {
      data.push(value);
      size += value.length + 1;
    }
    if (field === 'event') event = value;
  };

  return {
    push(text) {
      if (!text || broken) return !broken;
      const lines = (afterCarriageReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\n|\r/);
      afterCarriageReturn = text.endsWith('\r');
      const last = lines.pop() ?? '';
      for (const line of lines) {
        // Only what is new is searched for line ends: a line may come in thousands of pieces.
        const whole = rest + line;
        rest = '';
        takeLine(whole);
        broken ||= size > longest;
        if (broken) return false;
      }
      rest += last;
      broken = rest.length > longest;
      return !broken;
    },
    end() {
      if (broken) return;
      if (rest) takeLine(rest);
      rest = '';
      dispatch(false);
    },
  };
}
