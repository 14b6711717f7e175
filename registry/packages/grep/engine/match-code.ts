/** Matching syntax trees with ast-grep. Runs, as source text, in the search process: its parsers are native code. */
import type * as astGrep from '@ast-grep/napi';
import type { CodeQuery, Edit, Grammar, MatchRecord } from './protocol.ts';
import type { columnOf as ColumnOf } from './match-lines.ts';

interface CodeTools {
  readonly astGrep: typeof astGrep;
  /** The compiled grammar of a package for this machine; undefined where the package is not there, null where it has none. */
  libraryOf(name: string): string | undefined | null;
  columnOf: typeof ColumnOf;
  excerpt(line: string, at: number, length: number): string;
  /** @throws what ends the search, with these words for the person who asked */
  refuse(why: string, missing?: string): never;
}

export interface Rewritten {
  readonly edits: readonly Edit[];
  readonly nested: number;
  readonly breaks: boolean;
}

export interface CodeMatcher {
  /** The matches in a file, in the order of the text. */
  find(path: string, text: string): (() => MatchRecord)[];
  /** What the replacement makes of the outermost matches. */
  rewrite(path: string, text: string): Rewritten;
  /** Why nothing was found, where it can be said. */
  hint(): string | undefined;
}

/** Compiles a query; grammars are loaded when the first file of theirs comes. Refers to nothing but its arguments. */
export function codeMatcher(query: CodeQuery, { astGrep, libraryOf, columnOf, excerpt, refuse }: CodeTools): CodeMatcher {
  type Node = astGrep.SgNode;
  type Matcher = astGrep.NapiConfig;
  const metaVariable = /\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)/g;
  const longestCapture = 500;
  const longestMatch = 2_000;

  const namesIn = (text = ''): string[] => [...text.matchAll(metaVariable)].map(([, many, one]) => many ?? one ?? '').filter((name) => !name.startsWith('_'));
  const names = [...new Set([...namesIn(query.pattern), ...namesIn(query.inside)])];
  const several = new Set([...`${query.pattern ?? ''} ${query.inside ?? ''}`.matchAll(/\$\$\$([A-Z_][A-Z0-9_]*)/g)].map(([, name = '']) => name));
  let incomplete: string | undefined;

  const load = ({ name, package: from, extensions, symbol, expando }: Grammar): void => {
    if (from === undefined) return;
    const libraryPath = libraryOf(from);
    if (libraryPath === undefined) return refuse(`${name} needs the package ${from}, which is not installed.`, from);
    if (libraryPath === null) return refuse(`The package ${from} has no parser for ${process.platform} ${process.arch}.`);
    astGrep.registerDynamicLanguage({ [name]: { libraryPath, extensions: [...extensions], ...(symbol !== undefined && { languageSymbol: symbol }), ...(expando !== undefined && { expandoChar: expando }) } });
  };

  const exactly = (node: Node, start: number, end: number): Node | undefined => {
    const range = node.range();
    if (range.start.index > start || range.end.index < end) return undefined;
    for (const child of node.children()) {
      const found = exactly(child, start, end);
      if (found) return found;
    }
    return range.start.index === start && range.end.index === end ? node : undefined;
  };

  const hasError = (root: Node): boolean => root.find({ rule: { kind: 'ERROR' } }) !== null;

  /** A pattern as rules: as it is, and as part of the code that gives it a meaning. */
  const patternRules = ({ name, around, expando = '$' }: Grammar, pattern: string): Matcher['rule'] => {
    const rules: Matcher['rule'][] = [];
    let problem = '';
    const compiles = (rule: Matcher['rule']): boolean => {
      try {
        astGrep.parse(name, 'a').root().find({ rule });
        return true;
      } catch (error) {
        problem ||= (error as Error).message.split('\n').filter((line) => line.trim()).at(-1) ?? '';
        return false;
      }
    };
    if (compiles({ pattern })) rules.push({ pattern });
    if (hasError(astGrep.parse(name, pattern.replaceAll('$', expando)).root())) incomplete = pattern;
    if (around) {
      const [before, after] = around;
      const root = astGrep.parse(name, `${before}${pattern.replaceAll('$', expando)}${after}`).root();
      const kind = exactly(root, before.length, before.length + pattern.length)?.kind();
      const rule = { pattern: { context: `${before}${pattern}${after}`, selector: String(kind) } };
      if (kind !== undefined && kind !== 'ERROR' && compiles(rule)) {
        rules.push(rule);
        incomplete = undefined;
      }
    }
    if (rules.length === 0) refuse(`The pattern ${pattern} is no single piece of ${name}${problem ? ` (${problem.replace(/^.*\|->/, '')})` : ''}. Write one whole expression, statement or declaration, with $NAME for what may be there.`);
    return { any: rules };
  };

  const compile = (grammar: Grammar): Matcher => {
    load(grammar);
    const { pattern, node, inside, insideNode } = query;
    const all: Matcher['rule'][] = [];
    if (pattern !== undefined) all.push(patternRules(grammar, pattern));
    if (node !== undefined) all.push({ kind: node });
    if (inside !== undefined) all.push({ inside: { ...patternRules(grammar, inside), stopBy: 'end' } });
    if (insideNode !== undefined) all.push({ inside: { kind: insideNode, stopBy: 'end' } });
    const matcher: Matcher = { rule: { all } };
    try {
      astGrep.parse(grammar.name, 'a').root().find(matcher);
    } catch (error) {
      const unknown = /Kind `(.*)` is invalid/.exec((error as Error).message)?.[1];
      refuse(unknown === undefined ? `ast-grep does not take the query: ${(error as Error).message}` : `${grammar.name} has no kind of node "${unknown}". Kinds are those of its tree-sitter grammar, such as the "node" of a match.`);
    }
    const unknown = namesIn(query.replacement).filter((name) => !names.includes(name));
    if (unknown.length > 0 && !grammar.ownDollars) refuse(`The replacement has ${unknown.map((name) => `$${name}`).join(', ')}, and the pattern does not.`);
    return matcher;
  };

  const compiled = new Map<Grammar, Matcher>();
  const matchesIn = (path: string, text: string): { root: Node; matches: Node[]; grammar: string } => {
    const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
    const [first] = query.grammars;
    const grammar = query.grammars.find(({ extensions }) => extensions.includes(extension)) ?? first;
    if (!grammar) return refuse('No language was given.');
    const matcher = compiled.get(grammar) ?? compile(grammar);
    compiled.set(grammar, matcher);
    const root = astGrep.parse(grammar.name, text).root();
    return { root, matches: root.findAll(matcher), grammar: grammar.name };
  };

  const capturesOf = (node: Node, text: string): Record<string, string> => {
    const captures: Record<string, string> = {};
    for (const name of names) {
      if (several.has(name)) {
        const nodes = node.getMultipleMatches(name);
        const [first, last] = [nodes[0], nodes.at(-1)];
        captures[name] = first && last ? text.slice(first.range().start.index, last.range().end.index) : '';
      } else {
        const found = node.getMatch(name);
        if (found) captures[name] = found.text();
      }
    }
    return captures;
  };

  const lineStart = (text: string, index: number): number => text.lastIndexOf('\n', index - 1) + 1;

  const record = (path: string, text: string, node: Node): MatchRecord => {
    const { start, end } = node.range();
    const from = lineStart(text, start.index);
    const newline = text.indexOf('\n', start.index);
    const line = text.slice(from, newline === -1 ? text.length : newline).replace(/\r$/, '');
    const captures = Object.entries(capturesOf(node, text)).map(([name, value]) => [name, excerpt(value, 0, longestCapture)] as const);
    return {
      type: 'match',
      path,
      line: start.line + 1,
      column: columnOf(line, start.index - from),
      text: excerpt(line, start.index - from, 500),
      endLine: end.line + 1,
      endColumn: columnOf(text.slice(lineStart(text, end.index), end.index), end.index - lineStart(text, end.index)),
      match: excerpt(node.text(), 0, longestMatch),
      node: String(node.kind()),
      captures: Object.fromEntries(captures),
    };
  };

  /** The replacement for one match: further lines are indented like the first, captured code stays as it is. */
  const expand = (node: Node, text: string): string => {
    const { index } = node.range().start;
    const captures = capturesOf(node, text);
    const indent = /^[ \t]*/.exec(text.slice(lineStart(text, index), index))?.[0] ?? '';
    const newline = text.indexOf('\n');
    const ending = newline > 0 && text[newline - 1] === '\r' ? '\r\n' : '\n';
    return (query.replacement ?? '').replace(/\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)|\r?\n/g, (written, many?: string, one?: string) => {
      const name = many ?? one;
      if (name === undefined) return ending + indent;
      return names.includes(name) ? (captures[name] ?? '') : written;
    });
  };

  return {
    find: (path, text) => matchesIn(path, text).matches.map((node) => () => record(path, text, node)),
    rewrite(path, text) {
      const { root, matches, grammar } = matchesIn(path, text);
      const edits: Edit[] = [];
      let nested = 0;
      let end = 0;
      for (const node of matches) {
        const range = node.range();
        if (range.start.index < end) nested += 1;
        else {
          end = range.end.index;
          const replaced = expand(node, text);
          if (replaced !== node.text()) edits.push({ start: range.start.index, end, text: replaced });
        }
      }
      const result = edits.toReversed().reduce((whole, edit) => whole.slice(0, edit.start) + edit.text + whole.slice(edit.end), text);
      return { edits, nested, breaks: edits.length > 0 && !hasError(root) && hasError(astGrep.parse(grammar, result).root()) };
    },
    hint: () => (incomplete === undefined ? undefined : `The pattern ${incomplete} is not complete code of the language: that may be why. Write one whole expression, statement or declaration.`),
  };
}
