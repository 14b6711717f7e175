/** `git_diff` */
import { isOperational, OperationalError, type Tool, tool, z } from 'newt-agent';
import { headAndTail, listed, nameText, plural } from './bounded-text.ts';
import { changedLines, parseNumstat, statLines } from './numstat.ts';
import { commitOf, isUnborn, openRepository, pathsInput, refInput, type Repository, repositoryInput, touched } from './repository.ts';
import type { Git } from './run-git.ts';
import { filterNotes } from './status.ts';
import { plainDiff } from './surroundings.ts';

/** Changed lines, and characters, above which only the beginning and the end are shown. */
const largeLines = 2_000;
const largeText = 40_000;
const shownOfLarge = 24_000;

const input = z.object({
  staged: z.boolean().default(false).describe('what is staged, instead of what is not'),
  from: refInput.optional().describe('a commit to compare with'),
  to: refInput.optional().describe('a second commit; default: the files as they are'),
  merge_base: z.boolean().default(false).describe('compare with where "to" (or HEAD) left "from": what a branch changed'),
  paths: pathsInput.optional().describe('only these files or folders'),
  stat: z.boolean().default(false).describe('only how many lines of which files'),
  context: z.int().min(0).max(100).default(3).describe('unchanged lines around a change'),
  repository: repositoryInput,
});

export function diffTool(git: Git): Tool {
  return tool({
    description: 'Show changes: of the files against the index, of the index (staged), or between commits. A large diff begins with its statistics.',
    input,
    effect: 'read',
    touches: (request) => touched(request),
    run: async (request, call) => {
      const { staged, from, to, merge_base: fromBase, paths, stat, context, repository } = request;
      const repo = await openRepository(git, call, repository);
      if (to !== undefined && from === undefined) call.fail('"to" alone compares with nothing: give the other commit as "from".');
      if (staged && to !== undefined) call.fail('"staged" compares with the index: leave out "to", or "staged".');
      if (fromBase && from === undefined) call.fail('"merge_base" compares with the branch that this one left: give it as "from".');
      if (repo.isBare && to === undefined) call.fail('This is a bare repository without files: give two commits, as "to" and "from".');
      const newer = to === undefined ? undefined : await commitOf(repo, to);
      const older = from === undefined ? undefined : await commitOf(repo, from);
      const base = older !== undefined && fromBase ? await mergeBase(repo, older, newer ?? (await commitOf(repo, 'HEAD')), `${from} and ${to ?? 'HEAD'}`) : older;
      const between = [...(staged ? ['--cached'] : []), ...[base, newer].filter((one) => one !== undefined)];
      const specs = await repo.pathspecs(paths);
      const text = await diffText(repo, ['diff', ...between], specs, { onlyStat: stat, context, narrowed: paths?.length === 1 });
      const notes = [...(between.length === 0 ? await untrackedNote(repo, specs) : []), ...(newer === undefined && !staged ? filterNotes(repo) : [])];
      const nothing = `No changes${staged ? ' are staged' : between.length === 0 ? ' that are not staged' : ''}${paths ? ` in ${paths.map(nameText).join(', ')}` : ''}.${between.length === 0 && !repo.isBare ? await stagedNote(repo, specs) : ''}`;
      return [text === '' ? nothing : text, ...notes].join('\n');
    },
  });
}

async function mergeBase(repo: Repository, older: string, newer: string, names: string): Promise<string> {
  try {
    return (await repo.read(['merge-base', older, newer])).trim();
  } catch (error) {
    if ((error as OperationalError).details?.['exitCode'] !== 1) throw error;
    throw new OperationalError(`${names} have no commit in common: leave out "merge_base" to compare them as they are.`, {}, { cause: error });
  }
}

export interface DiffShape {
  readonly onlyStat: boolean;
  readonly context: number;
  /** One path was asked for: there is nothing to narrow it to. */
  readonly narrowed: boolean;
}

/**
 * A diff as text, or its statistics with the beginning and the end of it where it is large; empty for no change.
 * @param command such as `diff --cached`
 */
export async function diffText(repo: Repository, command: readonly string[], specs: readonly string[], { onlyStat, context, narrowed }: DiffShape): Promise<string> {
  // `numstat` names both paths from the top unless told otherwise: `shown` makes of them what the other tools take.
  const stats = parseNumstat(await repo.read([...command, ...plainDiff, '--no-relative', '--numstat', '-z', '--', ...specs]));
  const summary = statLines(stats, repo.shown);
  if (onlyStat) return stats.length === 0 ? '' : summary.join('\n');
  const patch = await patchOf(repo, [...command, ...plainDiff, ...repo.naming(specs), '--patch', `--unified=${context}`, '--', ...specs]);
  if (patch === undefined) return [...summary, `The diff is too large to be read as a whole. Ask for single files with "paths".`].join('\n');
  if (changedLines(stats) <= largeLines && patch.length <= largeText) return patch.trimEnd();
  const advice = narrowed ? 'A smaller "context" shortens it; read_file shows the file itself.' : 'To see them, ask for single files with "paths"';
  return [...summary, '', headAndTail(patch, shownOfLarge, advice)].join('\n').trimEnd();
}

/** undefined for more than a program's output may be */
async function patchOf(repo: Repository, args: readonly string[]): Promise<string | undefined> {
  try {
    return await repo.read(args);
  } catch (error) {
    if (isOperational(error) && (error as OperationalError).message.includes('wrote more than')) return undefined;
    throw error;
  }
}

async function untrackedNote(repo: Repository, specs: readonly string[]): Promise<string[]> {
  if (repo.isBare) return [];
  const names = (await repo.read(['ls-files', '--others', '--exclude-standard', '--directory', '--no-empty-directory', '-z', '--', ...specs])).split('\0').filter(Boolean);
  return names.length === 0 ? [] : [`(Untracked, and so in no diff: ${listed(names.map((name) => nameText(repo.shown(name))), 10).join(', ')})`];
}

async function stagedNote(repo: Repository, specs: readonly string[]): Promise<string> {
  const args = (await isUnborn(repo)) ? ['ls-files', '-z'] : ['diff', '--cached', '--name-only', '-z', ...plainDiff];
  const names = (await repo.read([...args, '--', ...specs])).split('\0').filter(Boolean);
  return names.length === 0 ? '' : ` ${plural(names.length, 'file is', 'files are')} staged: "staged" shows what.`;
}
