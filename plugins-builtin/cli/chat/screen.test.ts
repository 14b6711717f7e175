/** The screen against a terminal emulator: what a person sees, whatever the pieces the text comes in. */
import type { Terminal as TuiTerminal } from '@earendil-works/pi-tui';
import headless from '@xterm/headless';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createScreen } from './screen.ts';

function emulate(columns: number, rows = 12) {
  const emulator = new headless.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  let bytes = '';
  let onResize: () => void = () => undefined;
  const write = (text: string): void => {
    bytes += text;
    emulator.write(text.replaceAll('\n', '\r\n').replaceAll('\r\r\n', '\r\n'));
  };
  const nothing = (): void => undefined;
  const terminal: TuiTerminal = {
    start: (_, resized) => void (onResize = resized),
    stop: nothing,
    drainInput: async () => undefined,
    write,
    get columns() {
      return emulator.cols;
    },
    get rows() {
      return emulator.rows;
    },
    kittyProtocolActive: false,
    moveBy: nothing,
    hideCursor: nothing,
    showCursor: nothing,
    clearLine: nothing,
    clearFromCursor: nothing,
    clearScreen: nothing,
    setTitle: nothing,
    setProgress: nothing,
    setProgramStatus: nothing,
  };
  const settled = (): Promise<void> => new Promise((done) => emulator.write('', done));
  return {
    terminal,
    bytes: () => bytes,
    async resize(newColumns: number) {
      // What was written before is on the screen before its size changes.
      await settled();
      emulator.resize(newColumns, rows);
      onResize();
    },
    async text() {
      await settled();
      const { active } = emulator.buffer;
      // A row that the terminal broke is one line.
      return Array.from({ length: active.length }, (_, at) => (active.getLine(at + 1)?.isWrapped ? active.getLine(at)?.translateToString() ?? '' : `${active.getLine(at)?.translateToString(true).trimEnd() ?? ''}\n`)).join('').trimEnd();
    },
  };
}

const below = { render: () => ['-- editor --'], invalidate: () => undefined };
const screenOn = (terminal: TuiTerminal) => createScreen(terminal, () => [below]);
// No joined emoji: this emulator gives each of its parts columns of its own, as terminals before Unicode 9 do.
const words = fc.array(fc.constantFrom('a', 'word', ' ', '  ', '\n', '中文字', '日本語のテキスト', '🎉', 'é', '- item', '\t', 'https://example.org/a/rather/long/path'), { maxLength: 60 });

test('text in pieces, with frames in between, looks like the text in one piece', async () => {
  await fc.assert(
    fc.asyncProperty(words, fc.integer({ min: 15, max: 50 }), fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }), async (pieces, columns, frames) => {
      const whole = emulate(columns);
      const one = screenOn(whole.terminal);
      one.start();
      one.write(pieces.join(''));
      one.stop();
      const parts = emulate(columns);
      const many = screenOn(parts.terminal);
      many.start();
      for (const [at, piece] of pieces.entries()) {
        many.write(piece);
        if (frames[at]) many.tui.renderNow();
      }
      many.stop();
      const seen = await parts.text();
      expect(seen).toBe(await whole.text());
      expect(seen.replace(/\s+/g, '')).toBe(pieces.join('').replace(/\s+/g, ''));
    }),
    { numRuns: 150 },
  );
});

test('what is finished is given to the terminal once, and forgotten', async () => {
  const { terminal, bytes, text } = emulate(40);
  const screen = screenOn(terminal);
  screen.start();
  for (let at = 0; at < 500; at += 1) {
    screen.write(`line ${at}\n`);
    if (at % 7 === 0) await new Promise((frame) => setTimeout(frame, at % 70 === 0 ? 20 : 0));
  }
  screen.stop();
  expect(screen.tui.captureRenderState().previousLines.length).toBeLessThan(5);
  expect((await text()).split('\n').slice(0, 500)).toEqual(Array.from({ length: 500 }, (_, at) => `line ${at}`));
  expect(bytes().split('line 123\u001b').length).toBe(2);
});

test('drawn rows stand between text and editor, and leave nothing behind', async () => {
  const { terminal, text } = emulate(30);
  const screen = screenOn(terminal);
  screen.start();
  screen.write('before\nunfinished');
  screen.draw(['row 1', 'row 2 that is longer than the terminal is wide']);
  screen.tui.renderNow();
  expect(await text()).toBe('before\nunfinished\nrow 1\nrow 2 that is longer than the…\n-- editor --');
  screen.draw([]);
  screen.write(' line\n');
  screen.tui.renderNow();
  expect(await text()).toBe('before\nunfinished line\n-- editor --');
  screen.stop();
  expect(await text()).toBe('before\nunfinished line');
});

test('what goes on under a list or an indentation stands under its text', async () => {
  const { terminal, text } = emulate(20);
  const screen = screenOn(terminal);
  screen.start();
  screen.write('- one two three four five\n    deep one two three four\n12. a b c d e f g h i j\n');
  screen.stop();
  expect(await text()).toBe('- one two three four\n  five\n    deep one two\n    three four\n12. a b c d e f g h\n    i j');
});

test('any changes of size keep the text whole and in order, with one editor', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 20, max: 90 }), { minLength: 1, maxLength: 4 }), async (sizes) => {
      const { terminal, text, resize } = emulate(60, 40);
      const screen = screenOn(terminal);
      const said = Array.from({ length: 40 }, (_, at) => `word${at}`);
      screen.start();
      screen.write(said.slice(0, 20).join(' '));
      await vi.waitFor(async () => expect(await text()).toContain('word17'), { timeout: 10_000 });
      for (const columns of sizes) await resize(columns);
      screen.write(` ${said.slice(20).join(' ')}`);
      await vi.waitFor(async () => expect((await text()).split(/\s+/)).toEqual([...said, '--', 'editor', '--']), { timeout: 10_000 });
      screen.stop();
      expect((await text()).split(/\s+/)).toEqual(said);
    }),
    { numRuns: 25 },
  );
});

test('what a frame of the renderer itself has shown is not shown again after a change of size', async () => {
  const { terminal, text, resize } = emulate(40, 10);
  const screen = screenOn(terminal);
  screen.start();
  for (let at = 0; at < 60; at += 1) screen.write(`line ${at}\n`);
  // As for a key, before the rows were forgotten.
  screen.tui.renderNow();
  await resize(30);
  screen.write('while the size changes\n');
  screen.tui.renderNow();
  screen.stop();
  expect(await text()).toBe([...Array.from({ length: 60 }, (_, at) => `line ${at}`), 'while the size changes'].join('\n'));
});

test('the memory of the terminal is never cleared', async () => {
  const { terminal, bytes, resize } = emulate(40);
  const screen = screenOn(terminal);
  screen.start();
  for (let at = 0; at < 60; at += 1) screen.write(`line ${at}\n`);
  await resize(25);
  screen.clear();
  screen.stop();
  expect(bytes()).not.toMatch(/\u001b\[3J/);
});
