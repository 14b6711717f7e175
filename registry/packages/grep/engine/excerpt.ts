/** `line`, or of a longer one than `length` the part around the match at index `at`. Refers to nothing outside of itself. */
export function excerpt(line: string, at: number, length: number): string {
  if (line.length <= length) return line;
  const lead = Math.floor(length / 5);
  const start = at + lead < length ? 0 : at - lead;
  const end = start + length;
  return `${start > 0 ? '…' : ''}${line.slice(start, end).toWellFormed()}${end < line.length ? '…' : ''}`;
}
