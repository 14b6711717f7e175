/** The languages of grep_ast and grep_rewrite. */
import type { Grammar } from './engine/protocol.ts';

export interface Language {
  /** The first is its name. */
  readonly names: readonly string[];
  readonly grammars: readonly Grammar[];
}

const html: Grammar = { name: 'Html', extensions: ['html', 'htm', 'xhtml'] };
const css: Grammar = { name: 'Css', extensions: ['css'], expando: '_', around: ['a { ', ' }'] };
const javascript: Grammar = { name: 'JavaScript', extensions: ['js', 'mjs', 'cjs', 'jsx'] };
const typescript: Grammar = { name: 'TypeScript', extensions: ['ts', 'mts', 'cts'] };
const tsx: Grammar = { name: 'Tsx', extensions: ['tsx'] };

function packaged(name: string, extensions: readonly string[], more: Partial<Grammar> = {}): Grammar {
  return { name, extensions, package: `@ast-grep/lang-${name}`, symbol: `tree_sitter_${name}`, ...more };
}

/** How ast-grep's own packages set up their grammars. */
const mu = { expando: 'µ' };
const underscore = { expando: '_' };

export const languages: readonly Language[] = [
  { names: ['javascript', 'js', 'jsx'], grammars: [javascript] },
  { names: ['typescript', 'ts'], grammars: [typescript, tsx] },
  { names: ['tsx'], grammars: [tsx] },
  { names: ['html'], grammars: [html] },
  { names: ['css'], grammars: [css] },
  { names: ['bash', 'sh', 'shell', 'zsh'], grammars: [packaged('bash', ['sh', 'bash', 'zsh', 'ksh', 'bats'], { ownDollars: true })] },
  { names: ['c'], grammars: [packaged('c', ['c', 'h'], underscore)] },
  { names: ['cpp', 'c++', 'cxx'], grammars: [packaged('cpp', ['cpp', 'cc', 'cxx', 'hpp', 'hh', 'hxx', 'h', 'cu', 'ino'], underscore)] },
  { names: ['dart'], grammars: [packaged('dart', ['dart'], { around: ['void f() { ', ' }'] })] },
  { names: ['elixir', 'ex'], grammars: [packaged('elixir', ['ex', 'exs'], mu)] },
  { names: ['go', 'golang'], grammars: [packaged('go', ['go'], mu)] },
  { names: ['java'], grammars: [packaged('java', ['java'])] },
  { names: ['json'], grammars: [packaged('json', ['json'])] },
  { names: ['lua'], grammars: [packaged('lua', ['lua'])] },
  { names: ['markdown', 'md'], grammars: [packaged('markdown', ['md', 'markdown'])] },
  { names: ['php'], grammars: [packaged('php', ['php'], { around: ['<?php ', ';'], ownDollars: true })] },
  { names: ['python', 'py'], grammars: [packaged('python', ['py', 'pyi'], mu)] },
  { names: ['ruby', 'rb'], grammars: [packaged('ruby', ['rb', 'rake', 'gemspec'], mu)] },
  { names: ['rust', 'rs'], grammars: [packaged('rust', ['rs'], mu)] },
  { names: ['toml'], grammars: [packaged('toml', ['toml'], underscore)] },
  { names: ['yaml', 'yml'], grammars: [packaged('yaml', ['yaml', 'yml'])] },
  // Known, but not among the dependencies: each has 30 to 70 MB.
  { names: ['csharp', 'c#', 'cs'], grammars: [packaged('csharp', ['cs'], { ...mu, symbol: 'tree_sitter_c_sharp' })] },
  { names: ['haskell', 'hs'], grammars: [packaged('haskell', ['hs'], mu)] },
  { names: ['kotlin', 'kt'], grammars: [packaged('kotlin', ['kt', 'kts'], mu)] },
  { names: ['scala'], grammars: [packaged('scala', ['scala', 'sc', 'sbt'])] },
  { names: ['sql'], grammars: [packaged('sql', ['sql'], underscore)] },
  { names: ['swift'], grammars: [packaged('swift', ['swift'], mu)] },
];

/** The language of this name, in any case. */
export function languageNamed(name: string): Language | undefined {
  return languages.find(({ names }) => names.includes(name.toLowerCase()));
}

/** The language of a file, by its extension. */
export function languageOfFile(path: string): Language | undefined {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase();
  return extension === undefined ? undefined : languages.find(({ grammars }) => grammars.some(({ extensions }) => extensions.includes(extension)));
}
