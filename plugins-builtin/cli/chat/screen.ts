/**
 * A terminal with an editor at its bottom. What is finished is written above and scrolls away with the terminal,
 * which keeps it; only the last rows (an unfinished line, the output of a tool at work, the editor) are drawn anew.
 *
 * pi-tui's own way is to keep every line of a conversation, and to clear the terminal's memory when its size changes:
 * here it is told to forget what is finished, and is put to the right place after a change of size.
 */
import { type Component, type Terminal as TuiTerminal, TuiMainScreen, type TuiMainScreenRenderState, truncateToWidth, visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui';

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly tui: TuiMainScreen;
  /** A piece of text that stays. It may end in the middle of a line. */
  write(text: string): void;
  /** Rows under the text, in place of those drawn before. */
  draw(rows: readonly string[]): void;
  start(): void;
  /** An empty screen; what stood there scrolls into the terminal's memory. */
  clear(): void;
  /** Gives the terminal to the shell until the person comes back. */
  suspend(): void;
  /** Takes away what is not finished text, and gives the terminal back as it was. */
  stop(): void;
}

/** Pieces that come within this time are drawn together, in milliseconds. */
const frameMs = 16;
/** A size holds when it has not changed for so long, in milliseconds: before, the terminal may be at another one already. */
const settleMs = 60;
const tab = '    ';
// eslint-disable-next-line no-control-regex -- how the cursor is put into a column
const cursorTo = /\u001b\[\d+G/g;

/** @param below what stands under the text, top to bottom */
export function createScreen(terminal: TuiTerminal, below: (tui: TuiMainScreen) => readonly Component[]): Screen {
  let tui: TuiMainScreen;
  /** Whole rows that the terminal was not given yet, or may still have to be given. */
  let finished: string[] = [];
  /** How many of them the last frame had. */
  let framed = 0;
  let open = '';
  /** Rows of the open line that are finished, in the width of `openColumns`. */
  let openRows = 0;
  let openColumns = terminal.columns;
  let drawn: readonly string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  /** Where the cursor was put last, from 0. */
  let cursorColumn = 0;
  /** What stood on the screen before its size began to change. Until it holds still, nothing is drawn. */
  let held: { readonly state: TuiMainScreenRenderState; readonly timer: NodeJS.Timeout } | undefined;

  const anchored: TuiTerminal = {
    start(onInput, onResize) {
      terminal.start(onInput, () => {
        clearTimeout(held?.timer);
        if (!held) forget();
        held = { state: held?.state ?? tui.captureRenderState(), timer: setTimeout(() => settle(onResize), settleMs) };
      });
    },
    write(data) {
      if (held) return;
      const column = data.match(cursorTo)?.at(-1);
      if (column) cursorColumn = Number.parseInt(column.slice(2), 10) - 1;
      // The memory of the terminal is the person's.
      terminal.write(data.replaceAll('\u001b[3J', ''));
    },
    get columns() {
      return terminal.columns;
    },
    get rows() {
      return terminal.rows;
    },
    get kittyProtocolActive() {
      return terminal.kittyProtocolActive;
    },
    stop: () => terminal.stop(),
    restoreOnExit: (before, after) => terminal.restoreOnExit?.(before, after),
    drainInput: (maxMs, idleMs) => terminal.drainInput(maxMs, idleMs),
    moveBy: (lines) => terminal.moveBy(lines),
    hideCursor: () => terminal.hideCursor(),
    showCursor: () => terminal.showCursor(),
    clearLine: () => terminal.clearLine(),
    clearFromCursor: () => terminal.clearFromCursor(),
    clearScreen: () => terminal.clearScreen(),
    setTitle: (title) => terminal.setTitle(title),
    setProgress: (active) => terminal.setProgress(active),
    setProgramStatus: (status) => terminal.setProgramStatus(status),
  };

  const settleOpen = (): string[] => {
    if (openColumns !== terminal.columns) {
      // What is on the screen stays as it was broken; the rest of the line is broken anew.
      const rest = rowsOf(open, openColumns).slice(openRows).join(' ').trimStart();
      open = rest ? rest + (/\s*$/.exec(open)?.[0] ?? '') : '';
      [openRows, openColumns] = [0, terminal.columns];
      // The renderer takes no row that is wider than the terminal.
      finished = finished.flatMap((row) => (row ? rowsOf(row, openColumns) : ['']));
    }
    // Those before the last do not change any more, because lines are filled greedily.
    const rows = rowsOf(open, openColumns);
    finished.push(...rows.slice(openRows, -1));
    openRows = Math.max(openRows, rows.length - 1);
    return rows.slice(openRows);
  };
  const endLine = (): void => {
    // Settling may make the list anew.
    const last = open ? settleOpen() : openRows > 0 ? [] : [''];
    finished.push(...last);
    [open, openRows] = ['', 0];
  };
  const text: Component = {
    render(width) {
      const last = settleOpen();
      framed = finished.length;
      return [...finished, ...last, ...drawn.map((row) => truncateToWidth(row, width, '…'))];
    },
    invalidate: () => undefined,
  };

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (!isRunning || held) return;
    tui.renderNow();
    forget();
  };
  /** The finished rows of the last frame are the terminal's now. The renderer draws frames of its own, too. */
  const forget = (): void => {
    const count = framed;
    framed = 0;
    if (count === 0) return;
    const state = tui.captureRenderState();
    finished = finished.slice(count);
    tui.restoreRenderState({
      ...state,
      previousLines: state.previousLines.slice(count),
      cursorRow: state.cursorRow - count,
      hardwareCursorRow: state.hardwareCursorRow - count,
      maxLinesRendered: state.previousLines.length - count,
      previousViewportTop: Math.max(0, state.previousViewportTop - count),
    });
  };
  const flushSoon = (): void => void (timer ??= setTimeout(flush, frameMs));

  /** Takes away what is drawn. Terminals break rows anew that are too long for them, and the cursor goes with its text. */
  const erase = ({ previousLines, hardwareCursorRow }: TuiMainScreenRenderState): void => {
    const { columns } = terminal;
    const height = (row: string): number => Math.max(1, Math.ceil(visibleWidth(row) / columns));
    const above = previousLines.slice(0, hardwareCursorRow).reduce((sum, row) => sum + height(row), Math.floor(cursorColumn / columns));
    terminal.write(`\r${above > 0 ? `\u001b[${above}A` : ''}\u001b[J`);
  };
  const settle = (draw: () => void): void => {
    const before = held?.state;
    clearTimeout(held?.timer);
    held = undefined;
    // The frames since then were not shown.
    framed = 0;
    if (!isRunning) return;
    if (before && before.previousLines.length > 0) erase(before);
    drawHere();
    draw();
    flushSoon();
  };
  /** What is drawn next begins at the cursor. */
  const drawHere = (): void =>
    tui.restoreRenderState({ previousLines: [], previousWidth: terminal.columns, previousHeight: terminal.rows, cursorRow: 0, hardwareCursorRow: 0, maxLinesRendered: 0, previousViewportTop: 0 });

  tui = new TuiMainScreen(anchored, true);
  tui.addChild(text);
  for (const component of below(tui)) tui.addChild(component);

  return {
    tui,
    get columns() {
      return terminal.columns;
    },
    get rows() {
      return terminal.rows;
    },
    write(piece) {
      const lines = piece.replaceAll('\t', tab).split('\n');
      lines.forEach((line, index) => {
        open += line;
        if (index === lines.length - 1) return;
        endLine();
      });
      flushSoon();
    },
    draw(rows) {
      drawn = rows;
      flushSoon();
    },
    start() {
      isRunning = true;
      tui.start();
      flush();
    },
    clear() {
      flush();
      if (held) return;
      erase(tui.captureRenderState());
      // Scrolled away rather than wiped out.
      terminal.write(`\u001b[${terminal.rows};1H${'\n'.repeat(terminal.rows)}\u001b[H`);
      drawHere();
      tui.requestRender();
    },
    suspend() {
      if (!isRunning) return;
      flush();
      isRunning = false;
      tui.stop();
      process.once('SIGCONT', () => {
        isRunning = true;
        drawHere();
        tui.start();
        flushSoon();
      });
      process.kill(process.pid, 'SIGTSTP');
    },
    stop() {
      if (!isRunning) return;
      if (held) settle(() => undefined);
      if (open) endLine();
      drawn = [];
      for (const component of [...tui.children].slice(1)) tui.removeChild(component);
      flush();
      isRunning = false;
      tui.stop({ preserveScreen: true });
    },
  };
}

/** Styles, then white space and the sign of a list: what follows them is what the next row stands under. */
// eslint-disable-next-line no-control-regex -- how styles are written
const lead = /^((?:\u001b\[[\d;]*m)*)( *(?:[-*•·›] |\d{1,3}[.)] )?)/;

/** One line as rows of at most `columns`. */
function rowsOf(text: string, columns: number): string[] {
  if (!text) return [];
  if (visibleWidth(text) <= columns) return [text];
  const [whole = '', styles = '', start = ''] = lead.exec(text) ?? [];
  if (!start || start.length > columns / 2) return wrapTextWithAnsi(text, columns);
  const margin = ' '.repeat(start.length);
  return wrapTextWithAnsi(styles + text.slice(whole.length), columns - start.length).map((row, index) => (index === 0 ? start : margin) + row);
}
