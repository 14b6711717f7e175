import { join } from 'node:path';
import { isOperational, type Tool, tool, type ToolCall, type ToolResult, z } from 'newt-agent';
import { globPattern } from './glob-pattern.ts';
import type { Limiter } from './limiter.ts';
import { findRipgrep, searchWithRipgrep } from './ripgrep.ts';
import { searchPlace, shownPath } from './search-place.ts';
import type { SearchQuery } from './search-query.ts';
import { skipNotes } from './skip-notes.ts';
import { searchInThread } from './thread-search.ts';

const defaultMatches = 100;
const maxMatches = 1000;

const input = z.object({
  pattern: z.string().min(1).describe('regular expression, matched line by line'),
  path: z.string().min(1).optional().describe('file or folder; default: the workspace'),
  glob: z.string().min(1).optional().describe('which files, such as *.ts or src/**/*.ts'),
  ignore_case: z.boolean().optional(),
  max_results: z.int().min(1).max(maxMatches).optional().describe(`default ${defaultMatches}`),
});

type Input = z.output<typeof input>;

/**
 * The tool, which uses ripgrep where `searchPath` leads to one.
 *
 * @param searchPath the value of PATH
 * @param inTurn what searches without ripgrep wait for, all together
 */
export function grep(searchPath: () => string | undefined, inTurn: Limiter): Tool {
  return tool({
    description: 'Search file contents; answers path:line: text. Leaves out .git, binary files, files above 10 MB and what .gitignore files name (also outside a git repository), unless path is itself ignored.',
    input,
    effect: 'read',
    touches: ({ path = '.' }) => [{ path, access: 'read' }],
    run: (request, call) =>
      search(request, call, searchPath() ?? '', inTurn).catch((error: unknown) => {
        if (isOperational(error)) return { text: error.message, isError: true };
        throw error;
      }),
  });
}

async function search(request: Input, call: ToolCall, searchPath: string, inTurn: Limiter): Promise<ToolResult> {
  const { pattern, path = '.', max_results: limit = defaultMatches } = request;
  const place = await searchPlace(path, call);
  const glob = request.glob === undefined ? undefined : globPattern(request.glob, join(place.root, place.path), true);
  // One more than is shown tells whether there are more.
  const query: SearchQuery = { pattern, ignoreCase: request.ignore_case ?? false, place, glob, limit: limit + 1, signal: call.signal };
  const skipped = skipNotes();
  const ripgrep = await findRipgrep(searchPath, call.session.cwd);
  const matches = await (ripgrep ? searchWithRipgrep(ripgrep, query, skipped) : searchInThread(query, skipped, inTurn));
  const lines = matches.slice(0, limit).map((match) => `${shownPath(place, match.path)}:${match.line}: ${match.text}`);
  if (matches.length === 0) lines.push(`No line matches ${pattern} in ${request.path ?? 'the workspace'}${request.glob === undefined ? '' : ` (${request.glob})`}.`);
  if (matches.length > limit) lines.push(`(stopped after ${limit} matches; narrow the pattern, path or glob${limit < maxMatches ? ', or raise max_results' : ''})`);
  return { text: [...lines, ...skipped.lines()].join('\n') };
}
