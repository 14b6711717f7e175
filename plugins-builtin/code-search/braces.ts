/** Alternatives in braces, as shells write them: `{a,b}`, `{1..3}`, nested. */

const endpoints = /^(?:(-?\d{1,6})\.\.(-?\d{1,6})|([A-Za-z])\.\.([A-Za-z]))$/;

/** The patterns `pattern` stands for; undefined when they are more than `most`. Braces that offer no choice are text. */
export function expandBraces(pattern: string, most: number): string[] | undefined {
  let from = 0;
  for (;;) {
    const group = nextGroup(pattern, from);
    if (!group) return [pattern];
    const { start, end, parts } = group;
    const choices = parts.length > 1 ? choicesOf(parts, most) : range(parts[0] ?? '', most);
    if (!choices) return undefined;
    if (choices.length > 0) {
      const head = pattern.slice(0, start);
      const tails = expandBraces(pattern.slice(end + 1), most);
      if (!tails || choices.length * tails.length > most) return undefined;
      return choices.flatMap((choice) => tails.map((tail) => head + choice + tail));
    }
    from = start + 1;
  }
}

function choicesOf(parts: readonly string[], most: number): string[] | undefined {
  const choices: string[] = [];
  for (const part of parts) {
    const expanded = expandBraces(part, most);
    if (!expanded || choices.length + expanded.length > most) return undefined;
    choices.push(...expanded);
  }
  return choices;
}

/** Empty for what is no range. */
function range(text: string, most: number): string[] | undefined {
  const [, first, last, firstLetter, lastLetter] = endpoints.exec(text) ?? [];
  const isLetter = firstLetter !== undefined;
  const from = isLetter ? firstLetter.charCodeAt(0) : Number(first);
  const to = isLetter ? (lastLetter ?? '').charCodeAt(0) : Number(last);
  if (Number.isNaN(from) || Number.isNaN(to)) return [];
  const count = Math.abs(to - from) + 1;
  if (count > most) return undefined;
  return Array.from({ length: count }, (_, index) => from + Math.sign(to - from) * index).map((value) => (isLetter ? String.fromCharCode(value) : String(value)));
}

interface Group {
  readonly start: number;
  readonly end: number;
  /** What stands between its own commas. */
  readonly parts: readonly string[];
}

function nextGroup(pattern: string, from: number): Group | undefined {
  const open: { start: number; commas: number[] }[] = [];
  const closed: Group[] = [];
  for (let at = from; at < pattern.length; at += 1) {
    const sign = pattern[at];
    if (sign === '\\') at += 1;
    else if (sign === '{') open.push({ start: at, commas: [] });
    else if (sign === ',') open.at(-1)?.commas.push(at);
    else if (sign === '}') {
      const group = open.pop();
      if (!group) continue;
      const bounds = [group.start, ...group.commas, at];
      closed.push({ start: group.start, end: at, parts: bounds.slice(1).map((bound, index) => pattern.slice((bounds[index] ?? 0) + 1, bound)) });
    }
    if (open.length === 0 && closed.length > 0) break;
  }
  return closed.sort((a, b) => a.start - b.start)[0];
}
