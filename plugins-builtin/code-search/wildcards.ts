/**
 * Wildcard patterns without regular expressions. Only the latest wildcard is ever tried again, so that no pattern takes
 * more steps than its length times that of the name: a regular expression for `*a*a*a*a*b` would take years.
 */

/** Any number of items. */
const many = Symbol('many');

type Pattern<Item> = readonly (typeof many | ((item: Item) => boolean))[];

export interface PathPattern {
  /** @param names the names along a path */
  matches(names: readonly string[]): boolean;
  /** The names every match begins with. */
  readonly base: readonly string[];
}

/** Compiles a pattern of `*`, `?`, `[…]`, `\` and, as a whole name, `**`. */
export function pathPattern(pattern: string): PathPattern {
  const parts = pattern.split('/');
  const tests: Pattern<string>[number][] = parts.map((part) => (part === '**' ? many : namePattern(part)));
  // What is inside of a folder is not the folder.
  if (parts.at(-1) === '**') tests.push(() => true);
  const plain = parts.findIndex((part) => /[*?[\\]/.test(part));
  return {
    matches: (names) => matchesAll(tests, names),
    base: plain === -1 ? parts : parts.slice(0, plain),
  };
}

function namePattern(pattern: string): (name: string) => boolean {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const tests: Pattern<string>[number][] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const sign = pattern.charAt(at);
    const set = sign === '[' ? characterSet(pattern, at) : undefined;
    if (set) {
      tests.push(set.has);
      at = set.end;
    } else if (sign === '*') {
      if (tests.at(-1) !== many) tests.push(many);
    } else if (sign === '?') {
      tests.push(() => true);
    } else {
      if (sign === '\\' && at + 1 < pattern.length) at += 1;
      const literal = pattern.charAt(at);
      tests.push((character) => character === literal);
    }
  }
  return (name) => matchesAll(tests, name);
}

function matchesAll<Item>(pattern: Pattern<Item>, items: ArrayLike<Item>): boolean {
  let at = 0;
  let next = 0;
  let retry: { at: number; next: number } | undefined;
  while (next < items.length) {
    const test = pattern[at];
    if (test === many) {
      retry = { at: at + 1, next };
      at += 1;
    } else if (test?.(items[next] as Item)) {
      at += 1;
      next += 1;
    } else if (retry) {
      retry.next += 1;
      ({ at, next } = retry);
    } else {
      return false;
    }
  }
  while (pattern[at] === many) at += 1;
  return at === pattern.length;
}

const classes: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  word: /\w/,
  xdigit: /[0-9a-f]/i,
};

/** The set that opens at `start`; undefined where it is not closed, and the bracket stands for itself. */
function characterSet(pattern: string, start: number): { has(character: string): boolean; end: number } | undefined {
  const isNegated = /[!^]/.test(pattern.charAt(start + 1));
  const tests: ((character: string) => boolean)[] = [];
  const first = start + (isNegated ? 2 : 1);
  for (let at = first; at < pattern.length; at += 1) {
    // A bracket that closes nothing is a member.
    if (pattern[at] === ']' && at > first) return { has: (character) => tests.some((test) => test(character)) !== isNegated, end: at };
    const named = /^\[:(\w+):\]/.exec(pattern.slice(at, at + 12));
    const known = named && classes[named[1] ?? ''];
    if (known) {
      tests.push((character) => known.test(character));
      at += named[0].length - 1;
      continue;
    }
    if (pattern[at] === '\\') at += 1;
    const from = pattern.charAt(at);
    let to = from;
    if (pattern[at + 1] === '-' && at + 2 < pattern.length && pattern[at + 2] !== ']') {
      at += pattern[at + 2] === '\\' ? 3 : 2;
      to = pattern.charAt(at);
    }
    tests.push((character) => from <= character && character <= to);
  }
  return undefined;
}
