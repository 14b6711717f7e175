import { OperationalError, type Tool, tool, type ToolCall, type ToolResult, z } from 'newt-agent';
import type { Engine } from './engine-process.ts';
import { placeInput, placeRequest, placeText, searchPlace } from './place.ts';
import { answering, searchResult } from './result.ts';

const defaultMatches = 100;
const maxMatches = 1_000;
const maxFileBytes = 10_000_000;
const maxFiles = 200_000;
/** Seconds, above the search's own limit. */
export const toolDeadline = 120;

const input = z.object({
  pattern: z.string().min(1).max(10_000).describe('JavaScript regular expression, matched line by line'),
  literal: z.boolean().optional().describe('take pattern as plain text'),
  ...placeInput,
  ignore_case: z.boolean().optional(),
  word: z.boolean().optional().describe('whole words only'),
  context: z.int().min(0).max(20).optional().describe('lines to show around a match'),
  max_results: z.int().min(1).max(maxMatches).optional().describe(`default ${defaultMatches}`),
});

type Input = z.output<typeof input>;

/** Search in text, with what the built-in `grep` has not: literal text, whole words, context, columns, exclusions. */
export function grepText(engine: Engine): Tool {
  return tool({
    description: 'Search file contents with literal or whole-word matching, context lines, columns and exclusions; answers path:line:column: text. Respects .gitignore; binary files and files above 10 MB are left out.',
    input,
    effect: 'read',
    deadline: toolDeadline,
    touches: ({ path = '.' }) => [{ path, access: 'read' }],
    run: (request, call) => answering(() => search(engine, request, call)),
  });
}

async function search(engine: Engine, request: Input, call: ToolCall): Promise<ToolResult> {
  const { source, flags } = compilePattern(request);
  const place = await searchPlace(request.path ?? '.', call);
  const limit = request.max_results ?? defaultMatches;
  const outcome = await engine({ place: placeRequest(place, request), query: { kind: 'text', source, flags, context: request.context ?? 0 }, limit, maxFileBytes, maxFiles }, call.signal);
  return searchResult(place, outcome, { nothing: `No line matches ${request.pattern} in ${placeText(request)}.`, limit, maxLimit: maxMatches });
}

/** @throws OperationalError when the pattern is no regular expression */
function compilePattern({ pattern, literal, ignore_case, word }: Input): RegExp {
  const inline = !literal && pattern.startsWith('(?i)');
  const body = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&') : inline ? pattern.slice('(?i)'.length) : pattern;
  const source = word ? `(?<![\\p{L}\\p{N}_])(?:${body})(?![\\p{L}\\p{N}_])` : body;
  const flags = ignore_case || inline ? 'i' : '';
  try {
    return new RegExp(source, `${flags}u`);
  } catch (error) {
    const reason = (error as Error).message;
    try {
      // Outside of Unicode mode more is legal, such as the needless escapes models write.
      return new RegExp(word ? `(?<![\\w])(?:${body})(?![\\w])` : source, flags);
    } catch {
      throw new OperationalError(`${pattern} is not a regular expression: ${reason.replace(/^.*: /, '')}. Set literal to search for it as it is.`);
    }
  }
}
