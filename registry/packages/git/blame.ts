/** `git_blame` */
import { OperationalError, type Tool, tool, z } from 'newt-agent';
import { nameText } from './bounded-text.ts';
import { commitOf, openRepository, refInput, repositoryInput, touched } from './repository.ts';
import type { Git } from './run-git.ts';

const maxLines = 500;
const maxText = 500;

export interface BlamedLine {
  readonly commit: string;
  readonly line: number;
  readonly text: string;
}

export interface Blame {
  readonly lines: readonly BlamedLine[];
  /** By commit: who, when (seconds since the epoch), about what. */
  readonly commits: ReadonlyMap<string, { readonly author: string; readonly time: number; readonly subject: string }>;
}

/** @param output of `git blame --porcelain`, which tells a commit once */
export function parseBlame(output: string): Blame {
  const lines: BlamedLine[] = [];
  const commits = new Map<string, { author: string; time: number; subject: string }>();
  let commit = '';
  let line = 0;
  for (const text of output.split('\n')) {
    const [, id, final] = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(text) ?? [];
    if (text.startsWith('\t')) lines.push({ commit, line, text: text.slice(1) });
    else if (id !== undefined) {
      [commit, line] = [id, Number(final)];
      if (!commits.has(id)) commits.set(id, { author: '', time: 0, subject: '' });
    } else {
      const about = commits.get(commit);
      const [key = '', value = ''] = [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)];
      if (!about) continue;
      if (key === 'author') about.author = value;
      if (key === 'author-time') about.time = Number(value);
      if (key === 'summary') about.subject = value;
    }
  }
  return { lines, commits };
}

export function blameTool(git: Git): Tool {
  return tool({
    description: 'Show which commit last changed each line of a file, who made it, when and why.',
    input: z.object({
      file: z.string().min(1),
      start: z.int().min(1).default(1).describe('first line'),
      end: z.int().min(1).optional().describe(`last line; at most ${maxLines} lines are shown`),
      ref: refInput.optional().describe('as of this commit; default: the file as it is'),
      repository: repositoryInput,
    }),
    effect: 'read',
    touches: ({ file, repository }) => touched({ repository, paths: [file] }),
    run: async ({ file, start, end, ref, repository }, call) => {
      if (end !== undefined && end < start) call.fail(`"end" (${end}) is before "start" (${start}).`);
      const repo = await openRepository(git, call, repository);
      const path = await repo.fromTop(file);
      const commit = ref === undefined ? (repo.isBare ? [await commitOf(repo, 'HEAD')] : []) : [await commitOf(repo, ref)];
      // One more than is shown tells whether there are more.
      const last = Math.min(end ?? Infinity, start + maxLines);
      const output = await repo.read(['blame', '--porcelain', '--no-textconv', '--encoding=UTF-8', '-L', `${start},${last}`, ...commit, '--', path]).catch((error: OperationalError) => {
        const said = String(error.details?.['stderr'] ?? '');
        const [, lines] = /has only (\d+) lines?/.exec(said) ?? [];
        if (lines === '0') return '';
        if (lines !== undefined) throw new OperationalError(`${nameText(file)} has only ${lines} lines.`, {}, { cause: error });
        if (/no such path|no such ref|cannot stat path/i.test(said)) throw new OperationalError(`${nameText(file)} is not in ${ref ?? 'the last commit'}: there is nothing to tell of it.`, {}, { cause: error });
        throw error;
      });
      const { lines, commits } = parseBlame(output);
      const shown = lines.slice(0, maxLines);
      const more = lines.length > maxLines ? [`(There are more lines: go on with start ${start + maxLines}.)`] : [];
      return [...textOf(shown, commits), ...more].join('\n') || `${nameText(file)} is empty.`;
    },
  });
}

/** Lines below the commit they come from, which is told whenever it changes. */
function textOf(lines: readonly BlamedLine[], commits: Blame['commits']): string[] {
  let last = '';
  return lines.flatMap(({ commit, line, text }) => {
    const { author = '', time = 0, subject = '' } = commits.get(commit) ?? {};
    const head = /^0+$/.test(commit) ? 'not committed yet' : `${commit.slice(0, 10)} ${new Date(time * 1_000).toISOString().slice(0, 10)} ${nameText(author)}: ${subject.slice(0, 100)}`;
    const isNew = commit !== last;
    last = commit;
    return [...(isNew ? [head] : []), `${String(line).padStart(6)}  ${text.length > maxText ? `${text.slice(0, maxText)}…` : text}`];
  });
}
