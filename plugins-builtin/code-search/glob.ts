import { join } from 'node:path';
import { isOperational, OperationalError, tool, type ToolCall, type ToolResult, z } from 'newt-agent';
import { globPattern } from './glob-pattern.ts';
import { searchPlace, shownPath } from './search-place.ts';
import { skipNotes } from './skip-notes.ts';
import { walk } from './walk.ts';

const maxFiles = 500;

const input = z.object({
  pattern: z.string().min(1).describe('such as src/**/*.ts; relative to path'),
  path: z.string().min(1).optional().describe('folder; default: the workspace'),
});

type Input = z.output<typeof input>;

export const glob = tool({
  description: `Find files by name, in path order (at most ${maxFiles}). Hidden files are found; .git and what .gitignore files name, also outside a git repository, are not, unless path is itself an ignored folder.`,
  input,
  effect: 'read',
  touches: ({ path = '.' }) => [{ path, access: 'read' }],
  run: (request, call) =>
    findFiles(request, call).catch((error: unknown) => {
      if (isOperational(error)) return { text: error.message, isError: true };
      throw error;
    }),
});

async function findFiles({ pattern, path }: Input, call: ToolCall): Promise<ToolResult> {
  const place = await searchPlace(path ?? '.', call);
  if (place.isFile) throw new OperationalError(`${path} is a file. Give the folder to search as path, or leave it out.`);
  const { matches, mayMatchBelow } = globPattern(pattern, join(place.root, place.path), false);
  const skipped = skipNotes();
  const found: string[] = [];
  let count = 0;
  const files = walk({ root: place.root, folder: place.path, signal: call.signal, enter: mayMatchBelow, onSkip: skipped.note });
  for await (const file of files) {
    if (!matches(file.name)) continue;
    count += 1;
    if (found.length < maxFiles) found.push(shownPath(place, file.path));
  }
  if (count === 0) found.push(`No files match ${pattern} in ${path ?? 'the workspace'}. Only files are matched, not folders, and ignored files are left out.`);
  if (count > maxFiles) found.push(`(… ${count - maxFiles} more files; narrow the pattern or the path)`);
  return { text: [...found, ...skipped.lines()].join('\n') };
}
