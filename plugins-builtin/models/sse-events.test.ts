import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSseParser, type SseEvent } from './sse-events.ts';

function parse(pieces: readonly string[]): SseEvent[] {
  const events: SseEvent[] = [];
  const parser = createSseParser((event) => events.push(event));
  for (const piece of pieces) parser.push(piece);
  parser.end();
  return events;
}

const newline = fc.constantFrom('\n', '\r\n', '\r');
const line = fc.constantFrom('data: {"a":1}', 'data:é🦎', 'data', 'data: ', 'event: error', 'event', ': ping', 'id: 7', 'unknown: x', '');
const streamText = fc.array(fc.tuple(line, newline), { maxLength: 20 }).map((lines) => lines.flat().join(''));

it('finds the same events however the text is cut', () => {
  fc.assert(
    fc.property(streamText, fc.array(fc.nat(200), { maxLength: 10 }), (text, cuts) => {
      const at = [...new Set(cuts.map((cut) => Math.min(cut, text.length)))].sort((a, b) => a - b);
      const pieces = [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
      expect(pieces.join('')).toBe(text);
      expect(parse(pieces)).toEqual(parse([text]));
    }),
  );
});

it('finds the same events whatever the line ends are', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), newline, (lines, end) => {
      const text = (mark: string): string => lines.map((content) => content + mark).join('');
      expect(parse([text(end)])).toEqual(parse([text('\n')]));
    }),
  );
});

it('tells an event that no blank line closed', () => {
  expect(parse(['event: a\ndata: 1\ndata: 2\n\nda', 'ta: 3'])).toEqual([
    { event: 'a', data: '1\n2', closed: true },
    { event: '', data: '3', closed: false },
  ]);
});

it('takes time in proportion to a line without end, and gives it up at its limit', () => {
  const events: SseEvent[] = [];
  const parser = createSseParser((event) => events.push(event), 16_000_000);
  const piece = 'x'.repeat(1_000);
  const begun = performance.now();
  let pieces = 0;
  while (pieces < 20_000 && parser.push(piece)) pieces += 1;
  expect(pieces).toBe(16_000);
  expect(performance.now() - begun).toBeLessThan(1_000);
  expect(parser.push('data: 1\n\n')).toBe(false);
  parser.end();
  expect(events).toEqual([]);
});

it('counts the lines of one event together', () => {
  const parser = createSseParser(() => undefined, 10);
  expect(parser.push('data: 1234\n\ndata: 1234\n\n')).toBe(true);
  expect(parser.push('data: 1234\ndata: 1234\ndata: 1\n')).toBe(false);
});
