/** `git_log` */
import { type Json, type Tool, tool, z } from 'newt-agent';
import { nameText } from './bounded-text.ts';
import { commitOf, isUnborn, openRepository, pathsInput, refInput, type Repository, repositoryInput, touched } from './repository.ts';
import type { Git } from './run-git.ts';
import { plainDiff } from './surroundings.ts';

export interface Commit {
  readonly id: string;
  readonly short: string;
  readonly author: string;
  readonly email: string;
  /** ISO time, as the author's clock had it. */
  readonly date: string;
  readonly parents: readonly string[];
  /** Branches and tags at it: `HEAD -> main, tag: v1`. */
  readonly names: string;
  readonly subject: string;
}

/** Fields end with NUL, which no message holds. */
export const commitFormat = '--format=tformat:%H%x00%h%x00%an%x00%ae%x00%aI%x00%P%x00%D%x00%s';
const fieldCount = 8;

/** @param output of `git log -z` with {@link commitFormat}: a NUL ends a commit too */
export function parseCommits(output: string): Commit[] {
  const fields = output.split('\0');
  const commits: Commit[] = [];
  for (let at = 0; at + fieldCount <= fields.length; at += fieldCount) {
    const [id = '', short = '', author = '', email = '', date = '', parents = '', names = '', subject = ''] = fields.slice(at, at + fieldCount);
    commits.push({ id, short, author, email, date, parents: parents.split(' ').filter(Boolean), names, subject });
  }
  return commits;
}

export const plainLog: readonly string[] = ['--no-show-signature', '--no-notes', '--no-color', '--decorate=short', '--encoding=UTF-8'];

const maxCommits = 200;
const maxSubject = 200;

export function logTool(git: Git): Tool {
  return tool({
    description: 'List commits, newest first: of a branch or range (main..feature), of paths, by author, date, message, or by what they added or removed.',
    input: z.object({
      ref: refInput.default('HEAD').describe('branch, tag, commit, or range such as main..feature'),
      paths: pathsInput.optional().describe('only commits that changed these'),
      author: z.string().min(1).max(200).optional().describe('part of name or address'),
      message: z.string().min(1).max(500).optional().describe('part of the message'),
      since: z.string().min(1).max(100).optional().describe('such as 2026-01-31 or "2 weeks ago"'),
      until: z.string().min(1).max(100).optional(),
      changed_text: z.string().min(1).max(1_000).optional().describe('only commits that changed how often this text occurs (-S)'),
      max: z.int().min(1).max(maxCommits).default(20),
      skip: z.int().min(0).max(1_000_000).default(0),
      repository: repositoryInput,
    }),
    effect: 'read',
    touches: (request) => touched(request),
    run: async ({ ref, paths, author, message, since, until, changed_text: text, max, skip, repository }, call) => {
      const repo = await openRepository(git, call, repository);
      if (ref === 'HEAD' && (await isUnborn(repo))) return { text: 'There is no commit yet.', data: [] };
      const range = await rangeOf(repo, ref);
      const filters = [
        ...(author === undefined ? [] : [`--author=${author}`]),
        ...(message === undefined ? [] : [`--grep=${message}`]),
        ...(since === undefined ? [] : [`--since=${since}`]),
        ...(until === undefined ? [] : [`--until=${until}`]),
        // For it case counts, and so for all. The text of an option of its own: it may begin with a dash.
        ...(text === undefined ? [] : [`-S${text}`]),
      ];
      const output = await repo.read(['log', '-z', commitFormat, ...plainLog, ...plainDiff, '--no-patch', '--fixed-strings', ...(text === undefined ? ['--regexp-ignore-case'] : []), `--max-count=${max + 1}`, `--skip=${skip}`, ...filters, range, '--', ...(paths ? await repo.pathspecs(paths) : [])], { before: ['-c', 'log.follow=false'] });
      const found = parseCommits(output);
      const commits = found.slice(0, max);
      if (commits.length === 0) return { text: skip > 0 ? `No further commits after the first ${skip}.` : 'No commit fits.', data: [] };
      const more = found.length > max ? [`(There are more: ${max < maxCommits ? 'raise max, or ' : ''}go on with skip ${skip + max}.)`] : [];
      return { text: [...commits.map(commitLine), ...more].join('\n'), data: commits as unknown as Json };
    },
  });
}

export function commitLine({ short, author, date, parents, names, subject }: Commit): string {
  return `${short} ${date.slice(0, 10)} ${nameText(author)}${parents.length > 1 ? ' [merge]' : ''}${names ? ` (${names})` : ''}: ${subject.slice(0, maxSubject)}`;
}

/** A commit, or a range of two, by their ids: what git is given cannot be an option. */
async function rangeOf(repo: Repository, ref: string): Promise<string> {
  const [, from, dots, to] = /^(.*?[^./]|)(\.{2,3})([^./].*|)$/.exec(ref) ?? [];
  if (dots === undefined || ref.startsWith(':/')) return commitOf(repo, ref);
  const ends = await Promise.all([from, to].map((one) => commitOf(repo, one || 'HEAD')));
  return ends.join(dots);
}
