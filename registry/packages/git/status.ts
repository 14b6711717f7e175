/** `git_status` */
import { type Json, type Tool, tool, type ToolResult, z } from 'newt-agent';
import { listed, nameText, plural } from './bounded-text.ts';
import { type Change, parseStatus, type Status } from './parse-status.ts';
import { openRepository, operationInProgress, pathsInput, type Repository, repositoryInput, touched } from './repository.ts';
import type { Git } from './run-git.ts';

const maxShown = 100;

export function statusTool(git: Git): Tool {
  return tool({
    description: 'Show the branch, what is staged, changed, in conflict and untracked, and whether a merge or rebase is in progress.',
    input: z.object({
      paths: pathsInput.optional().describe('only these files or folders'),
      untracked: z.enum(['files', 'folders', 'none']).default('folders').describe('untracked: each file, whole folders as one, or none'),
      repository: repositoryInput,
    }),
    effect: 'read',
    touches: (request) => touched(request),
    run: async ({ paths, untracked, repository }, call): Promise<ToolResult> => {
      const repo = await openRepository(git, call, repository);
      const status = await readStatus(repo, { paths, untracked });
      const text = [...headLines(repo, status), ...changeLines(repo, status), ...noteLines(repo, status)].join('\n');
      return { text, data: dataOf(repo, status) };
    },
  });
}

/** @param paths as the model gave them; all that may be seen without */
export async function readStatus(repo: Repository, { paths, untracked = 'folders' }: { readonly paths?: readonly string[] | undefined; readonly untracked?: 'files' | 'folders' | 'none' } = {}): Promise<Status> {
  const mode = { files: 'all', folders: 'normal', none: 'no' }[untracked];
  return parseStatus(await repo.read(['status', '--porcelain=v2', '--branch', '--show-stash', '--ahead-behind', '-z', `--untracked-files=${mode}`, '--ignore-submodules=dirty', '--find-renames', '--', ...(await repo.pathspecs(paths))]));
}

/** Where HEAD is: `branch main, no commit yet`. */
export function headText({ branch, commit }: Pick<Status, 'branch' | 'commit'>): string {
  if (branch === undefined) return `HEAD is detached at ${commit?.slice(0, 10) ?? 'nothing'}: new commits would be on no branch`;
  return `On branch ${nameText(branch)}${commit === undefined ? ', no commit yet' : ''}`;
}

function headLines(repo: Repository, status: Status): string[] {
  const { upstream, ahead, behind } = status;
  const relation = ahead === undefined || behind === undefined ? 'whose upstream is gone' : ahead === 0 && behind === 0 ? 'up to date' : [ahead && `${ahead} ahead`, behind && `${behind} behind`].filter(Boolean).join(', ');
  const doing = operationInProgress(repo);
  return [
    `${headText(status)}${upstream === undefined ? '' : `, ${ahead === undefined ? `${relation}: ${nameText(upstream)}` : `${relation} (${nameText(upstream)})`}`}.`,
    ...(doing === undefined ? [] : [`${doing} is in progress${status.conflicts.length ? `, with ${plural(status.conflicts.length, 'conflict')}` : ''}.`]),
  ];
}

const verbs: Readonly<Record<string, string>> = { M: 'modified', A: 'added', D: 'deleted', R: 'renamed', C: 'copied', T: 'type changed' };
const conflictKinds: Readonly<Record<string, string>> = { DD: 'both deleted', AU: 'added by us', UD: 'deleted by them', UA: 'added by them', DU: 'deleted by us', AA: 'both added', UU: 'both modified' };

function changeLines(repo: Repository, { changes, conflicts, untracked }: Status): string[] {
  const line = (letter: (change: Change) => string) => (change: Change): string => {
    const code = letter(change);
    const name = nameText(repo.shown(change.path));
    const from = change.from !== undefined && (code === 'R' || code === 'C') ? `${nameText(repo.shown(change.from))} → ` : '';
    return `  ${verbs[code] ?? code}: ${from}${name}${change.isSubmodule ? ' (submodule)' : ''}`;
  };
  const section = (title: string, lines: readonly string[]): string[] => (lines.length ? [`${title} (${lines.length}):`, ...listed(lines, maxShown)] : []);
  return [
    ...section('Conflicts', conflicts.map(({ path, kind }) => `  ${conflictKinds[kind] ?? kind}: ${nameText(repo.shown(path))}`)),
    ...section('Staged', changes.filter(({ staged }) => staged !== '.').map(line(({ staged }) => staged))),
    ...section('Changed, not staged', changes.filter(({ unstaged }) => unstaged !== '.').map(line(({ unstaged }) => unstaged))),
    ...section('Untracked', untracked.map((path) => `  ${nameText(repo.shown(path))}`)),
  ];
}

function noteLines(repo: Repository, { changes, conflicts, untracked, stashes }: Status): string[] {
  return [
    ...(changes.length + conflicts.length + untracked.length === 0 ? ['Nothing changed.'] : []),
    ...(stashes > 0 ? [`${plural(stashes, 'stash', 'stashes')}; git_list shows ${stashes === 1 ? 'it' : 'them'}.`] : []),
    ...filterNotes(repo),
  ];
}

/** What is said where a filter was not run, and files may therefore look changed. */
export function filterNotes({ filters }: Pick<Repository, 'filters'>): string[] {
  return filters.length === 0 ? [] : [`(The ${filters.length === 1 ? 'filter' : 'filters'} ${filters.slice(0, 5).map(nameText).join(', ')} of the repository's own configuration ${filters.length === 1 ? 'was' : 'were'} not run: files that ${filters.length === 1 ? 'it converts' : 'they convert'} may show as changed.)`];
}

const maxData = 500;

function dataOf(repo: Repository, { changes, conflicts, untracked, commit, ...head }: Status): Json {
  const path = (one: { readonly path: string }): { path: string } => ({ ...one, path: repo.shown(one.path) });
  return JSON.parse(JSON.stringify({ ...head, commit, changes: changes.slice(0, maxData).map(path), conflicts: conflicts.slice(0, maxData).map(path), untracked: untracked.slice(0, maxData).map(repo.shown) })) as Json;
}
