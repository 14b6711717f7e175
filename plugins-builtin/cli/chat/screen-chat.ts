/** A chat on a terminal that can move its cursor: an editor below, the conversation above. */
import { type Component, Editor, Input, isKeyRelease, matchesKey, ProcessTerminal, truncateToWidth } from '@earendil-works/pi-tui';
import { type Event, oneLine, printable, wrap } from 'newt-agent';
import { saidText } from '../said-text.ts';
import type { Surface } from '../render-text.ts';
import type { ChatSurface, SurfaceHost } from './chat.ts';
import { completion } from './completion.ts';
import { fileNames } from './file-names.ts';
import { createScreen, type Screen } from './screen.ts';

/** What was typed before a person could have read the question is no answer to it, in milliseconds. */
const typeAhead = 300;
const maxQueued = 3;
/** In front of what is written, as in front of what was said. */
const sign = '› ';
/** Tabs are cells of the text to the editor, which would make blanks of them. */
const tabSign = '␉';

export function screenChat({ io, style, cwd, commands, history }: SurfaceHost, terminal = new ProcessTerminal()): ChatSurface {
  let handlers: Parameters<ChatSurface['start']>[0];
  let isBusy = false;
  let isCancelling = false;
  let busySince = 0;
  let ticking: NodeJS.Timeout | undefined;
  let hint = '';
  /** Messages for the run at work that it has not taken yet. */
  let queued: string[] = [];
  let asking: { readonly input: Input; readonly from: number } | undefined;
  let typed = '';
  let editor: Editor;

  const statusRows: Component = {
    render(width) {
      const seconds = Math.floor((performance.now() - busySince) / 1_000);
      const waits = queued.slice(-maxQueued).map((text) => style.dim(`  queued: ${oneLine(printable(text.split('\n\n<file ', 1)[0] ?? ''), width)}`));
      const state = asking ? '' : isCancelling ? 'cancelling… (Ctrl-C again to quit)' : isBusy ? `working · ${seconds} s · Esc cancels, Enter adds a message` : '';
      const last = hint || state;
      return ['', ...waits, ...(last ? [style.dim(`  ${last}`)] : [])].map((row) => truncateToWidth(row, width, '…'));
    },
    invalidate: () => undefined,
  };
  /** In place of the editor's frame: how much of a long text is out of sight, if any is. */
  const borderColor = (frame: string): string => {
    const hidden = /[↑↓] \d+ more/.exec(frame)?.[0];
    return hidden === undefined ? '' : style.dim(`  ${hidden}`);
  };
  const withSign = (rows: readonly string[]): readonly string[] => {
    const shown = rows[0] === '' ? rows.map((row, index) => (index === 1 ? style.cyan(sign) + row.slice(sign.length) : row)) : rows;
    return shown.filter((row) => row !== '');
  };
  /** The editor, or the answer to a question in its place; what was written in the editor stays. */
  const bottom: Component & { focused: boolean } = {
    get focused() {
      return editor.focused;
    },
    set focused(value) {
      editor.focused = value;
      if (asking) asking.input.focused = value;
    },
    // Without what fills rows up: a terminal that becomes narrower breaks them anew, and some lose their cursor over it.
    render: (width) => (asking ? asking.input.render(width) : withSign(editor.render(width))).map((row) => row.trimEnd()),
    handleInput(data) {
      if (asking) return onAnswerKey(data, asking);
      editor.handleInput(data);
      // Where a whole line was deleted the editor leaves its menu open.
      if (!editor.getText() && editor.isShowingAutocomplete()) editor.setText('');
    },
    invalidate: () => undefined,
  };
  const screen: Screen = createScreen(terminal, (tui) => {
    const plain = (text: string): string => text;
    editor = new Editor(tui, { borderColor, selectList: { selectedPrefix: style.cyan, selectedText: style.cyan, description: style.dim, scrollInfo: style.dim, noMatch: plain } }, { paddingX: sign.length });
    editor.setAutocompleteProvider(completion(commands, fileNames(cwd)));
    for (const entry of history.entries) editor.addToHistory(entry.replaceAll('\t', tabSign));
    editor.onChange = (text) => void (text && (typed = text));
    editor.onSubmit = (text) => {
      // The editor cuts the blanks off, and a blank in front has a meaning.
      const lead = /^\s*/.exec(typed)?.[0] ?? '';
      typed = '';
      if (!text) return;
      if (!lead) editor.addToHistory(text);
      handlers.onMessage((lead ? ' ' : '') + text.replaceAll(tabSign, '\t'));
    };
    return [statusRows, bottom];
  });

  const onAnswerKey = (data: string, question: NonNullable<typeof asking>): void => {
    if (performance.now() - question.from >= typeAhead) question.input.handleInput(data);
  };

  const onKey = (data: string): { consume?: boolean; data?: string } | undefined => {
    if (isKeyRelease(data)) return undefined;
    const had = hint;
    hint = '';
    if (matchesKey(data, 'ctrl+c')) {
      if (!isBusy && editor.getText()) editor.setText('');
      else if (isBusy || had) handlers.onInterrupt();
      else hint = 'Ctrl-C again to leave';
    } else if (matchesKey(data, 'escape') && isBusy && !editor.isShowingAutocomplete()) {
      handlers.onCancel();
    } else if (matchesKey(data, 'ctrl+d') && !asking && !editor.getText()) handlers.onEnd();
    else if (matchesKey(data, 'ctrl+l')) screen.clear();
    else if (matchesKey(data, 'ctrl+z') && process.platform !== 'win32') screen.suspend();
    else return { data: data.includes('\u001b[200~') ? data.replaceAll('\t', tabSign) : data };
    screen.tui.requestRender();
    return { consume: true };
  };

  const surface: Surface = {
    style,
    remarkStyle: style,
    get columns() {
      return screen.columns;
    },
    movesCursor: true,
    echoesKeys: false,
    write: (text) => screen.write(text),
    // On a low terminal the editor comes first.
    draw: (rows) => screen.draw(rows.slice(-Math.max(1, screen.rows - 14))),
    print: (text) => screen.write(`${text}\n`),
    say: (text) => screen.write(`${wrap(text, screen.columns, 2).join('\n')}\n`),
  };

  return {
    surface,
    start(given) {
      handlers = given;
      screen.tui.addInputListener(onKey);
      // A terminal that was hung up has nothing more to say.
      for (const event of ['end', 'error', 'close']) io.stdin.on(event, given.onEnd);
      screen.tui.setFocus(bottom);
      screen.start();
    },
    said(event: Event) {
      if (event.type === 'user') screen.write(`\n${saidText(event.data.text, style)}\n\n`);
      if (event.type !== 'steer') return;
      const taken = queued.indexOf(event.data.text);
      queued = queued.filter((_, index) => index !== taken);
    },
    queued: (text) => {
      queued.push(text);
      screen.tui.requestRender();
    },
    working(busy, cancelling) {
      if (busy && !isBusy) busySince = performance.now();
      [isBusy, isCancelling] = [busy, cancelling];
      if (busy) ticking ??= setInterval(() => screen.tui.requestRender(), 1_000);
      else {
        clearInterval(ticking);
        ticking = undefined;
      }
      screen.tui.requestRender();
    },
    forgetQueued: () => void (queued = []),
    confirm: (question, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        surface.print(question);
        let tries = 0;
        const input = new Input({ prompt: '  [y/N] ' });
        const finish = (answer: boolean | undefined): void => {
          if (!asking) return;
          asking = undefined;
          signal.removeEventListener('abort', stop);
          if (answer !== undefined) surface.print(`  [y/N] ${answer ? 'y' : 'n'}`);
          screen.tui.requestRender();
          resolve(answer);
        };
        const stop = (): void => finish(undefined);
        input.onSubmit = (text) => {
          const answer = text.trim().toLowerCase();
          tries += 1;
          if (answer === 'y' || answer === 'yes') finish(true);
          else if (answer === '' || answer === 'n' || answer === 'no' || tries === 3) finish(false);
          else {
            input.setValue('');
            hint = 'y or n, then Enter';
          }
        };
        signal.addEventListener('abort', stop, { once: true });
        asking = { input, from: performance.now() };
        input.focused = true;
        screen.tui.requestRender();
      }),
    async stop() {
      clearInterval(ticking);
      await terminal.drainInput(200, 20);
      screen.stop();
      await io.flush();
    },
  };
}
