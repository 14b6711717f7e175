/** Views: projections of a session's event log onto a terminal or a pipe. */
import { type CommandIO, type Event, oneLine, printable, type Style } from 'newt-agent';
import { callTitle } from './tool-line.ts';

export interface View {
  show(event: Event): void;
  /** The person asked to stop: what is still open ends for that reason. */
  cancelling(): void;
  /** Whether `text` stands in full on the screen as what the call is about. */
  hasShown?(call: string, text: string): boolean;
}

/** The one line a person sees of a fault, a notice or a retry. Undefined for records that are no news of that kind. */
export function newsLine(event: Event, { yellow, red, dim }: Style): string | undefined {
  switch (event.type) {
    case 'fault':
      return yellow(`⚠ ${oneLine(event.data.line, maxNews)}`);
    case 'notice': {
      const text = oneLine(event.data.text, maxNews);
      return event.data.level === 'info' ? dim(text) : event.data.level === 'warn' ? yellow(`⚠ ${text}`) : red(`✗ ${text}`);
    }
    case 'retry':
      return yellow(`⚠ ${oneLine(event.data.reason, maxNews)}; asking again${event.data.partial ? ' (the text above is partial)' : ''}`);
    case 'session':
      return event.data.scripted ? yellow(`scripted model ${oneLine(event.data.model)}`) : undefined;
    default:
      return undefined;
  }
}

const maxNews = 1_000;

/** Every record as one line of JSON. */
export function jsonView(io: CommandIO): View {
  return { show: (event) => io.json(event), cancelling: () => undefined };
}

/** For programs: standard output gets the answer, once and whole, and standard error what needs attention. */
export function pipedView(io: CommandIO, style: Style): View {
  let isCancelled = false;
  const asked = new Map<string, { title: string; rule?: string }>();
  const refused = (call: string): void => {
    const { title = 'a tool call', rule } = asked.get(call) ?? {};
    io.say(style.yellow(`⚠ not allowed, and nobody can be asked: ${title}${rule ? `. Allow it with: ${oneLine(rule)}` : ''}`));
  };
  return {
    cancelling: () => void (isCancelled = true),
    show(event) {
      switch (event.type) {
        case 'tool.call': {
          const { name, subject } = callTitle(event.data.name, event.data.input);
          asked.set(event.data.call, { title: `${name} ${subject}`.trim() });
          break;
        }
        case 'tool.ask':
          asked.set(event.data.call, { title: oneLine(event.data.question), ...asked.get(event.data.call), rule: event.data.rule });
          break;
        case 'tool.answer':
          if (event.data.by === 'nobody' && !isCancelled) refused(event.data.call);
          break;
        case 'stop':
          if (event.data.code === 0) io.print(printable(event.data.text).trim());
          break;
        case 'retry':
          break;
        default: {
          const news = newsLine(event, style);
          if (news) io.say(news);
        }
      }
    },
  };
}
