/** `git_commit` */
import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { isOperational, OperationalError, type Tool, tool, type ToolCall, z } from 'newt-agent';
import { listed, nameText } from './bounded-text.ts';
import { parseNumstat, statLines } from './numstat.ts';
import type { Status } from './parse-status.ts';
import { openRepository, operationInProgress, pathsInput, type Repository, repositoryInput, touched } from './repository.ts';
import type { Git } from './run-git.ts';
import { readStatus } from './status.ts';
import { plainDiff } from './surroundings.ts';

const input = z.object({
  message: z.string().max(20_000).refine((text) => text.trim() !== '', 'must say what was done'),
  paths: pathsInput.optional().describe('commit these as they are, new and deleted files too; default: what is staged'),
  repository: repositoryInput,
});

type Input = z.output<typeof input>;

/** Seconds: hooks may run the tests. */
const deadline = 600;
const whole: readonly string[] = ['A merge', 'A cherry-pick', 'A rebase'];
const hookNames = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit'];

export function commitTool(git: Git): Tool {
  return tool({
    description: 'Commit the given paths, or what is staged. Hooks of the repository run and can refuse. Refuses to commit nothing.',
    input,
    effect: 'exec',
    deadline,
    touches: (request) => touched(request),
    preview: async (request, call) => previewOf(await openRepository(git, call, request.repository), request),
    run: async (request, call) => commit(await openRepository(git, call, request.repository), request, call),
  });
}

async function commit(repo: Repository, { message, paths }: Input, call: ToolCall): Promise<string> {
  const { status, doing } = await inspected(repo, paths);
  const specs = paths ? await repo.pathspecs(paths) : [];
  if (paths) await repo.write(['add', '--all', '--', ...specs]);
  // A merge is committed as a whole, with what was given as resolved.
  const only = paths && !whole.includes(doing ?? '') ? ['--only', '--', ...specs] : [];
  try {
    await repo.write(['commit', '--quiet', '--cleanup=whitespace', '--file=-', ...only], { input: message });
  } catch (error) {
    if (!isOperational(error) || call.signal.aborted) throw error;
    // Where that cannot be told either, the first failure is the one to tell.
    const after = await repo.read(['rev-parse', '--verify', '--quiet', 'HEAD']).catch(() => undefined);
    // It was made, and what came after failed: a hook that takes for ever.
    if (after !== undefined && after.trim() !== status.commit) throw new OperationalError(`It was committed as ${after.slice(0, 10)}, but then: ${(error as Error).message}`, {}, { cause: error });
    throw new OperationalError(`Nothing was committed. ${(error as Error).message}${paths ? `\n${paths.map(nameText).join(', ')} ${paths.length === 1 ? 'is' : 'are'} staged now.` : ''}`, { ...(error as OperationalError).details }, { cause: error });
  }
  const [id = '', subject = ''] = (await repo.read(['log', '--max-count=1', '--no-show-signature', '--no-color', '--no-patch', '--format=tformat:%h%x00%s', 'HEAD', '--'])).trim().split('\0');
  const stats = parseNumstat(await repo.read(['diff-tree', '--root', '--no-commit-id', '-r', ...plainDiff, '--no-relative', '--numstat', '-z', 'HEAD', '--']));
  return [
    `Committed ${id} on ${status.branch === undefined ? 'no branch: HEAD is detached. git_branch create keeps it' : nameText(status.branch)}: ${subject}`,
    ...statLines(stats, repo.shown),
    ...(operationInProgress(repo) === undefined ? [] : [`(${operationInProgress(repo)} is still in progress.)`]),
  ].join('\n');
}

/** The state that a commit would be made of. @throws OperationalError where there is nothing to commit, or it cannot be */
async function inspected(repo: Repository, paths: readonly string[] | undefined): Promise<{ readonly status: Status; readonly doing: string | undefined; readonly chosen: Status }> {
  if (repo.isBare) throw new OperationalError('This is a bare repository: it has no files to commit. Use a clone or a worktree of it.');
  // All of the index is committed, also what lies beside the workspace.
  const status = await readStatus({ ...repo, pathspecs: async () => [] }, { untracked: 'none' });
  const doing = operationInProgress(repo);
  const chosen = paths ? await readStatus(repo, { paths, untracked: 'files' }) : status;
  const given = new Set(chosen.conflicts.map(({ path }) => path));
  const open = status.conflicts.filter(({ path }) => !paths || !given.has(path));
  if (open.length > 0) throw new OperationalError(`There are conflicts:\n${listed(open.map(({ path }) => `  ${nameText(repo.shown(path))}`), 20).join('\n')}\nNothing was committed. Resolve them, then name these files in "paths".`);
  // Of untracked files a folder is one line only if it is a repository.
  const nested = paths ? chosen.untracked.filter((path) => path.endsWith('/')) : [];
  if (nested.length > 0) throw new OperationalError(`${nested.slice(0, 5).map((path) => nameText(repo.shown(path))).join(', ')} ${nested.length === 1 ? 'is a repository of its own' : 'are repositories of their own'}, and would be committed without files. Nothing was committed. Name other paths, or put it into .gitignore.`);
  const count = paths ? chosen.changes.length + chosen.untracked.length + chosen.conflicts.length : chosen.changes.filter(({ staged }) => staged !== '.').length;
  if (count === 0 && doing !== 'A merge') {
    // Why, git knows better: ignored, in a submodule, or nowhere.
    if (paths) await repo.read(['add', '--dry-run', '--all', '--', ...(await repo.pathspecs(paths))]);
    const left = paths ? [] : status.changes.filter(({ unstaged }) => unstaged !== '.').map(({ path }) => `  ${nameText(repo.shown(path))}`);
    throw new OperationalError(paths ? `Nothing has changed in ${paths.map(nameText).join(', ')}. Nothing was committed. git_status shows what has.` : `Nothing is staged. Nothing was committed.${left.length ? ` Changed, and to be named in "paths":\n${listed(left, 20).join('\n')}` : ' git_status shows what has changed.'}`);
  }
  return { status, doing, chosen };
}

async function previewOf(repo: Repository, { message, paths }: Input): Promise<string> {
  const { status, doing, chosen } = await inspected(repo, paths);
  const specs = paths ? await repo.pathspecs(paths) : [];
  const against = paths && status.commit !== undefined ? ['HEAD'] : ['--cached'];
  const stats = parseNumstat(await repo.read(['diff', ...against, ...plainDiff, '--no-relative', '--numstat', '-z', '--', ...specs]));
  const fresh = paths ? chosen.untracked.map((path) => `  new: ${nameText(repo.shown(path))}`) : [];
  const hooks = await hooksOf(repo);
  return [
    `Commit on ${status.branch === undefined ? 'no branch (HEAD is detached)' : nameText(status.branch)}${status.commit === undefined ? `, the first` : ''}${doing === undefined ? '' : `; ${doing.toLowerCase()} is in progress`}:`,
    ...message.trim().split('\n').slice(0, 30).map((line) => `    ${line}`.trimEnd()),
    ...(stats.length > 0 || fresh.length === 0 ? statLines(stats, repo.shown) : []),
    ...listed(fresh, 50),
    ...(paths && whole.includes(doing ?? '') ? ['All else that is staged is committed with it.'] : []),
    hooks.length ? `Runs the ${hooks.length === 1 ? 'hook' : 'hooks'} ${hooks.join(', ')} of the repository.` : 'The repository has no hooks for this.',
  ].join('\n');
}

/** The hooks that a commit runs. */
async function hooksOf(repo: Repository): Promise<string[]> {
  // `read` looks in no folder of hooks: the one that counts is asked for without its settings.
  const folder = resolve(repo.top, (await repo.write(['rev-parse', '--git-path', 'hooks'])).replace(/\n$/, ''));
  const inFolder = hookNames.filter((name) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  return [...inFolder, ...(await configuredHooks(repo))];
}

/** Hooks that the configuration holds, which git knows since 2.54: `linter (pre-commit)`. */
async function configuredHooks(repo: Repository): Promise<string[]> {
  const output = await repo.read(['config', '-z', '--get-regexp', '^hook\\..*\\.event$']).catch((error: OperationalError) => {
    if (error.details?.['exitCode'] === 1) return '';
    throw error;
  });
  return output.split('\0').flatMap((field) => {
    const [key = '', event = ''] = field.split('\n');
    return hookNames.includes(event) ? [`${nameText(key.slice('hook.'.length, -'.event'.length))} (${event})`] : [];
  });
}
