/** The view for a person at a terminal: what the agent says and does, as it happens. */
import { createPrintableStream, type Event, type EventData, oneLine, printable, type PrintableStream, truncate } from 'newt-agent';
import { createLiveTail, type LiveTail } from './live-tail.ts';
import { countTotals } from './run-totals.ts';
import type { Terminal } from './terminal.ts';
import { callTitle, type CallTitle, resultSummary } from './tool-line.ts';
import { saidText } from './said-text.ts';
import { newsLine, type View } from './view.ts';

/** A tool call that has no result yet. */
interface OpenCall {
  readonly title: CallTitle;
  readonly tail: LiveTail;
  announced: boolean;
  /** The subject in the line that announced it, where nothing of it was cut. */
  shown?: string;
  rule?: string;
  refusal?: string;
}

/** Blocks of different kinds are set apart by a blank line. */
type Block = 'text' | 'lines' | 'said' | 'summary';

/** Its outcome is the end of the run, which is shown anyway. */
const silentTool = 'task_done';

/** What the view is shown on: a terminal, or the part of one above an editor. */
export type Surface = Pick<Terminal, 'style' | 'remarkStyle' | 'columns' | 'movesCursor' | 'write' | 'draw' | 'print' | 'say'> & {
  /** False where keys do not show up by themselves. */
  readonly echoesKeys?: boolean;
};

export function textView(io: Surface): View {
  const { style } = io;
  const totals = countTotals();
  const calls = new Map<string, OpenCall>();
  let block: Block | undefined;
  let isMidLine = false;
  let isDrawn = false;
  /** The call whose lines are at the bottom of the screen. */
  let front: string | undefined;
  let prose: PrintableStream = createPrintableStream();
  let blanks = '';
  let spoken = '';
  let thought = '';
  let isThoughtShown = false;
  let isCancelled = false;

  const eraseRows = (): void => {
    if (isDrawn) io.draw([]);
    isDrawn = false;
  };
  const startLine = (): void => {
    eraseRows();
    if (isMidLine) io.write('\n');
    isMidLine = false;
  };
  const enter = (kind: Block, anew = false): void => {
    startLine();
    if (block !== undefined && (anew || block !== kind)) io.write('\n');
    block = kind;
  };
  const line = (text: string, kind: Block = 'lines'): void => {
    enter(kind);
    io.print(text);
  };

  /** White space at either end of an answer is not shown, so at the end of a piece it has to wait. */
  const speak = (piece: string): void => {
    const text = spoken ? blanks + piece : piece.trimStart();
    const end = text.trimEnd().length;
    blanks = text.slice(end);
    if (end === 0) return;
    if (!isMidLine || block !== 'text') enter('text', !spoken);
    io.write(text.slice(0, end));
    spoken += text.slice(0, end);
    isMidLine = true;
  };
  const showThought = (): void => {
    const [first = ''] = printable(thought).trim().split('\n');
    if (first && !isThoughtShown) {
      line(style.dim(truncate(`· ${first}`, io.columns)));
      isThoughtShown = true;
    }
    thought = '';
  };
  const endAnswer = (): void => {
    showThought();
    speak(prose.end());
    blanks = '';
    startLine();
  };
  const startAnswer = (): void => {
    endAnswer();
    prose = createPrintableStream();
    spoken = '';
    isThoughtShown = false;
  };
  const onDelta = ({ kind, text }: EventData<'delta'>): void => {
    if (kind === 'text') {
      showThought();
      return speak(prose.push(text));
    }
    thought += text;
    if (thought.trimStart().includes('\n')) showThought();
  };

  const announce = (id: string, call: OpenCall): void => {
    if (front === id) return;
    const { name, subject } = call.title;
    const shown = truncate(subject, io.columns - name.length - 3);
    line(`${style.cyan('●')} ${style.bold(name)}${shown ? ` ${shown}` : ''}`);
    call.announced = true;
    if (shown === subject) call.shown = subject;
    front = id;
  };
  const row = (text: string): string => `  ${style.dim(truncate(text.replaceAll('\t', '  '), io.columns - 3))}`;
  const onOutput = ({ call: id, text }: EventData<'tool.output'>): void => {
    const call = calls.get(id);
    call?.tail.push(text);
    // Of calls that run side by side the first is watched; the others have their turn.
    if (!call || !io.movesCursor || [...calls.keys()][0] !== id) return;
    announce(id, call);
    if (isMidLine) startLine();
    io.draw(call.tail.rows().map(row));
    isDrawn = true;
  };
  const onResult = (result: EventData<'tool.result'>): void => {
    const call = calls.get(result.call);
    if (!call) return;
    announce(result.call, call);
    eraseRows();
    for (const text of call.tail.rows()) line(row(text));
    const summary = truncate(call.refusal ?? resultSummary(result), io.columns - 3);
    if (summary) line(`  ${result.isError ? style.red(summary) : style.dim(summary)}`);
    calls.delete(result.call);
    front = undefined;
    const next = [...calls].find(([, waiting]) => !waiting.announced);
    if (next) announce(...next);
  };

  const show = (event: Event): void => {
    totals.count(event);
    switch (event.type) {
      case 'request':
        return startAnswer();
      case 'delta':
        return onDelta(event.data);
      case 'reasoning':
        if (!isThoughtShown && !spoken) thought = event.data.text;
        return showThought();
      case 'assistant':
        // A server that does not stream, or a plugin that wrote the answer.
        if (!spoken) speak(printable(event.data.text));
        return endAnswer();
      case 'steer':
        endAnswer();
        return line(saidText(event.data.text, style), 'said');
      case 'tool.call': {
        if (event.data.name === silentTool) return;
        const call = { title: callTitle(event.data.name, event.data.input), tail: createLiveTail(), announced: false };
        calls.set(event.data.call, call);
        if (calls.size === 1) announce(event.data.call, call);
        return;
      }
      case 'tool.ask': {
        const call = calls.get(event.data.call);
        if (!call) return;
        if (event.data.rule !== undefined) call.rule = event.data.rule;
        announce(event.data.call, call);
        return startLine();
      }
      case 'tool.answer': {
        const call = calls.get(event.data.call);
        if (!call || event.data.allowed) return;
        const rule = call.rule ? `; allow it with: ${oneLine(call.rule)}` : '';
        const refusal = event.data.by === 'person' ? 'not allowed' : `not allowed, and nobody can be asked${rule}`;
        call.refusal = isCancelled ? 'cancelled' : refusal;
        return;
      }
      case 'tool.output':
        return onOutput(event.data);
      case 'tool.result':
        return onResult(event.data);
      case 'stop': {
        endAnswer();
        const answer = printable(event.data.text).trim();
        const isNew = event.data.code === 0 && answer !== spoken.trim();
        if (isNew) {
          spoken = '';
          speak(answer);
        }
        return line(style.dim(totals.summary()), 'summary');
      }
      default: {
        const news = newsLine(event, io.remarkStyle);
        if (!news) return;
        if (event.type === 'retry') startAnswer();
        enter('lines');
        io.say(news);
      }
    }
  };
  return {
    show,
    hasShown: (id, text) => front === id && calls.get(id)?.shown === text,
    cancelling() {
      isCancelled = true;
      if (io.echoesKeys === false) startLine();
      else {
        eraseRows();
        io.write('\n');
        isMidLine = false;
      }
      io.say(io.remarkStyle.dim('cancelling… (Ctrl-C again to quit)'));
    },
  };
}
