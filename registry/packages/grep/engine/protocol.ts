/** What the agent asks of the search process, and the lines of JSON it answers. */

/** Where to search, and in which files. */
export interface PlaceRequest {
  /** Absolute: ignore files above it do not count. */
  readonly root: string;
  /** Folder or file below `root`, with `/`; the empty string is `root` itself. */
  readonly path: string;
  readonly isFile: boolean;
  /** Globs relative to the folder; one without `/` is about names at any depth. None: all files. */
  readonly include: readonly string[];
  /** The same, for files and folders to leave out. */
  readonly exclude: readonly string[];
  /** Without dot, in lower case; none: all files. */
  readonly extensions: readonly string[];
}

export interface TextQuery {
  readonly kind: 'text';
  readonly source: string;
  readonly flags: string;
  /** Lines to show before and after a match. */
  readonly context: number;
}

/** A grammar, and how code is written in it. */
export interface Grammar {
  /** As ast-grep knows it. */
  readonly name: string;
  readonly extensions: readonly string[];
  /** The package that brings it; none for those of ast-grep itself. */
  readonly package?: string;
  /** The exported symbol of its library. */
  readonly symbol?: string;
  /** What ast-grep puts in place of the `$` of a pattern, so that the grammar takes it for a name. */
  readonly expando?: string;
  /** Code around a pattern that stands for nothing by itself, such as a declaration of CSS. */
  readonly around?: readonly [before: string, after: string];
  /** `$NAME` is code of the language itself: in a replacement it stays where the pattern has no such name. */
  readonly ownDollars?: boolean;
}

export interface CodeQuery {
  readonly kind: 'code';
  /** The first is that of files whose extension belongs to none. */
  readonly grammars: readonly Grammar[];
  /** Where packages of grammars are looked for: files or folders whose `node_modules` count. */
  readonly bases: readonly string[];
  readonly pattern?: string;
  /** Kind of node, as the grammar calls it. */
  readonly node?: string;
  /** Pattern, or kind of node, of what a match must lie in. */
  readonly inside?: string;
  readonly insideNode?: string;
  /** Undefined: only search. */
  readonly replacement?: string;
}

export interface EngineRequest {
  /** File from which packages are resolved. */
  readonly base: string;
  readonly place: PlaceRequest;
  readonly query: TextQuery | CodeQuery;
  /** Matches to report; the rest are counted. */
  readonly limit: number;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
}

export type SkipReason = 'binary' | 'too large' | 'unreadable' | 'too deep' | 'node_modules' | 'not UTF-8';

export interface MatchRecord {
  readonly type: 'match';
  /** Relative to the root of the place, with `/`. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** Characters (code points) from 1. */
  readonly column: number;
  /** The line, or of a long one the part around the match. */
  readonly text: string;
  /** Of matches in code: where it ends (behind its last character), its text, and what the pattern's names stand for. */
  readonly endLine?: number;
  readonly endColumn?: number;
  readonly match?: string;
  /** The kind of its node, as the grammar calls it. */
  readonly node?: string;
  readonly captures?: Readonly<Record<string, string>>;
}

/** A line near a match. */
export interface ContextRecord {
  readonly type: 'context';
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface Edit {
  /** UTF-16 units of the text behind a byte-order mark. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface RewriteRecord {
  readonly type: 'rewrite';
  readonly path: string;
  /** SHA-256 of the file's bytes, in hex. */
  readonly digest: string;
  readonly edits: readonly Edit[];
  /** Matches within other matches, which are left for another run. */
  readonly nested: number;
  /** It was well-formed before, and is not any more. */
  readonly breaks: boolean;
}

export type EngineRecord =
  | MatchRecord
  | ContextRecord
  | RewriteRecord
  /** Now and then, before a file: where it was, if it does not come back. */
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'skip'; readonly reason: SkipReason; readonly count: number; readonly named: readonly string[] }
  /** A request that cannot be met. */
  | { readonly type: 'refused'; readonly why: string; readonly package?: string }
  | { readonly type: 'done'; readonly files: number; readonly more: number; readonly countedAll: boolean; readonly hint?: string };
