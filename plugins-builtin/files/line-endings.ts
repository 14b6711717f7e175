/** Line endings in code units: a newline the model writes stands for whatever the file has there. */

const lineFeedAlone = /(?<!\r)\n/g;

/** A pattern that finds `units` literally, its bare LFs also as CRLF. */
export function lineEndingTolerant(units: string): RegExp {
  const literal = units.replace(/[\\^$.*+?()[\]{}|/]/g, (special) => `\\${special}`);
  return new RegExp(literal.replace(lineFeedAlone, () => '\\r?\\n'), 'g');
}

/** `units` with its bare LFs as CRLF where the text around [start, end) has CRLF. */
export function adoptLineEnding(units: string, around: string, start: number, end: number): string {
  return isCrlfAround(around, start, end) ? units.replace(lineFeedAlone, () => '\r\n') : units;
}

/** Asks the first newline in or behind the range, else the last one before it. */
function isCrlfAround(text: string, start: number, end: number): boolean {
  const inside = text.indexOf('\n', start);
  const newline = inside === -1 ? text.lastIndexOf('\n', end) : inside;
  return newline > 0 && text[newline - 1] === '\r';
}
