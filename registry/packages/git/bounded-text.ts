/** Results that a model can take in: names as one word, lists and texts of a bounded length. */

/** A file name as it is; in quotes, with escapes, where a reader could not tell its ends or its characters. */
export function nameText(name: string): string {
  // eslint-disable-next-line no-control-regex -- names may hold any but NUL
  return /^\s|\s$|[\u0000-\u001f\u007f-\u009f"\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(name) ? JSON.stringify(name) : name;
}

/** At most `limit` lines, and how many are left out. */
export function listed(lines: readonly string[], limit: number): string[] {
  return lines.length <= limit ? [...lines] : [...lines.slice(0, limit), `  … and ${lines.length - limit} more`];
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The lines of a text: the first two thirds of `limit` characters and the last third, with what is left out between them. */
export function headAndTail(text: string, limit: number, advice: string): string {
  if (text.length <= limit) return text;
  const cut = (at: number): number => {
    const line = text.lastIndexOf('\n', at);
    // Lines may be as long as the file.
    return line > at - 2_000 && line > 0 ? line + 1 : /[\udc00-\udfff]/.test(text[at] ?? '') ? at - 1 : at;
  };
  const head = text.slice(0, cut(Math.floor((limit * 2) / 3)));
  const tail = text.slice(cut(text.length - Math.floor(limit / 3)));
  const left = text.length - head.length - tail.length;
  const lines = text.slice(head.length, head.length + left).split('\n').length - 1;
  return `${head}${head.endsWith('\n') ? '' : '\n'}… ${plural(lines, 'line')} (${left} characters) are left out here. ${advice} …\n${tail}`;
}
