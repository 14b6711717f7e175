/**
 * The search itself, in a process of its own: a regular expression that never ends, or a native parser that crashes,
 * ends that process and not the agent. It is sent there as source text, so that it works from TypeScript and wherever
 * the package is installed: {@link runEngine} may refer to nothing but its arguments.
 */
import type * as crypto from 'node:crypto';
import type * as fs from 'node:fs';
import type { codeMatcher as CodeMatcher } from './match-code.ts';
import type { decodeText as DecodeText } from './decode-text.ts';
import type { excerpt as Excerpt } from './excerpt.ts';
import type { columnOf as ColumnOf, matchLines as MatchLines } from './match-lines.ts';
import type { EngineRecord, EngineRequest, SkipReason } from './protocol.ts';
import type { walkFiles as WalkFiles } from './walk-files.ts';

export interface EngineParts {
  readonly codeMatcher: typeof CodeMatcher;
  readonly columnOf: typeof ColumnOf;
  readonly decodeText: typeof DecodeText;
  readonly excerpt: typeof Excerpt;
  readonly matchLines: typeof MatchLines;
  readonly walkFiles: typeof WalkFiles;
}

/** Writes {@link EngineRecord}s, one a line, to standard output. */
export function runEngine(load: (base: string) => NodeJS.Require, { base, place, query, limit, maxFileBytes, maxFiles }: EngineRequest, parts: EngineParts): void {
  const require = load(base);
  const { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, writeSync } = require('node:fs') as typeof fs;
  const { createHash } = require('node:crypto') as typeof crypto;
  const longestLine = 500;
  const mostNamed = 3;
  const mostCounted = 100_000;
  const progressEvery = 10;

  const emit = (record: EngineRecord): void => {
    let rest: Buffer = Buffer.from(`${JSON.stringify(record)}\n`);
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(1, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      }
    }
  };

  class Refused extends Error {}
  const refuse = (why: string, missing?: string): never => {
    emit({ type: 'refused', why, ...(missing !== undefined && { package: missing }) });
    throw new Refused(why);
  };

  const skipped = new Map<SkipReason, { count: number; readonly named: string[] }>();
  const skip = (reason: SkipReason, path: string): void => {
    const entry = skipped.get(reason) ?? { count: 0, named: [] };
    skipped.set(reason, entry);
    entry.count += 1;
    if (entry.named.length < mostNamed) entry.named.push(path);
  };

  const readBytes = (path: string): Buffer | undefined => {
    let descriptor: number | undefined;
    try {
      // Whatever has taken the file's place since it was listed: a link must not lead out, a pipe must not block.
      descriptor = openSync(`${place.root}/${path}`, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return undefined;
      if (stats.size <= maxFileBytes) return readFileSync(descriptor);
      skip('too large', path);
    } catch {
      skip('unreadable', path);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
    return undefined;
  };

  const libraryOf = (name: string, bases: readonly string[]): string | undefined | null => {
    for (const from of bases) {
      let folder: string;
      try {
        folder = load(from).resolve(`${name}/package.json`).replace(/[\\/]package\.json$/, '');
      } catch {
        continue;
      }
      const system = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' }[process.platform as string] ?? process.platform;
      // What its install script would have copied or built.
      return [`${folder}/prebuilds/prebuild-${system}-${process.arch.toUpperCase()}/parser.so`, `${folder}/parser.so`].find((path) => existsSync(path)) ?? null;
    }
    return undefined;
  };

  let matches = 0;
  const count = (): boolean => ++matches <= limit;

  const excerpt = (line: string, at: number): string => parts.excerpt(line, at, longestLine);
  const searchers = {
    text() {
      if (query.kind !== 'text') return undefined;
      const pattern = new RegExp(query.source, query.flags);
      return { hint: () => undefined, file: (path: string, text: string) => parts.matchLines(path, text, { pattern, context: query.context, count, emit, excerpt }, parts.columnOf) };
    },
    code() {
      if (query.kind !== 'code') return undefined;
      const matcher = parts.codeMatcher(query, { astGrep: require('@ast-grep/napi'), libraryOf: (name) => libraryOf(name, query.bases), columnOf: parts.columnOf, excerpt: parts.excerpt, refuse });
      const file = (path: string, text: string, bytes: Buffer): void => {
        if (query.replacement === undefined) {
          for (const record of matcher.find(path, text)) if (count()) emit(record());
          return;
        }
        const { edits, nested, breaks } = matcher.rewrite(path, text);
        if (edits.length === 0) return;
        matches += edits.length;
        if (matches > limit) refuse(`The pattern matches in more than ${limit} places. Narrow it, or rewrite folder by folder.`);
        emit({ type: 'rewrite', path, digest: createHash('sha256').update(bytes).digest('hex'), edits, nested, breaks });
      };
      return { hint: matcher.hint, file };
    },
  };

  try {
    const search = searchers[query.kind]();
    const walked = parts.walkFiles(place, { fs: require('node:fs'), ignore: require('ignore'), picomatch: require('picomatch'), skip });
    let files = 0;
    let told = -Infinity;
    for (const path of walked) {
      if (files >= maxFiles) refuse(`There are more than ${maxFiles} files. Narrow the path, or give a glob.`);
      files += 1;
      const bytes = readBytes(path);
      if (!bytes) continue;
      const decoded = parts.decodeText(bytes);
      if (!decoded) {
        skip('binary', path);
        continue;
      }
      // What cannot be written back unchanged is not rewritten.
      if (!decoded.exact && query.kind === 'code' && query.replacement !== undefined) {
        skip('not UTF-8', path);
        continue;
      }
      if (performance.now() - told > progressEvery) {
        emit({ type: 'file', path });
        told = performance.now();
      }
      search?.file(path, decoded.text, bytes);
      if (matches >= mostCounted) break;
    }
    for (const [reason, { count: times, named }] of skipped) emit({ type: 'skip', reason, count: times, named });
    const hint = matches === 0 ? search?.hint() : undefined;
    emit({ type: 'done', files, more: Math.max(0, matches - limit), countedAll: matches < mostCounted, ...(hint !== undefined && { hint }) });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
}
