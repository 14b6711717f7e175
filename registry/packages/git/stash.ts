/** `git_stash` */
import { OperationalError, type Tool, tool, type ToolCall, z } from 'newt-agent';
import { listed, nameText, plural } from './bounded-text.ts';
import { readStashes } from './list.ts';
import { mayChange, openRepository, pathsInput, type Repository, repositoryInput, touched } from './repository.ts';
import type { Git } from './run-git.ts';
import { readStatus } from './status.ts';
import { plainDiff } from './surroundings.ts';

const input = z.object({
  action: z.enum(['push', 'pop', 'drop']),
  message: z.string().max(500).optional().describe('push: what is put aside'),
  paths: pathsInput.optional().describe('push: only these'),
  untracked: z.boolean().default(false).describe('push: untracked files too'),
  index: z.int().min(0).max(10_000).default(0).describe('pop, drop: its number in git_list; 0 is the newest'),
  repository: repositoryInput,
});

type Input = z.output<typeof input>;

export function stashTool(git: Git): Tool {
  return tool({
    description: 'Put uncommitted changes aside (push), bring them back (pop), or throw a stash away (drop). git_list lists stashes.',
    input,
    effect: 'exec',
    deadline: 600,
    touches: (request) => touched(request),
    preview: async (request, call) => previewOf(await openRepository(git, call, request.repository), request),
    run: async (request, call) => {
      const repo = await openRepository(git, call, request.repository);
      if (repo.isBare) call.fail('This is a bare repository: there are no changes to put aside.');
      if (request.action === 'push') return push(repo, request, call);
      return request.action === 'pop' ? pop(repo, request, call) : drop(repo, request);
    },
  });
}

async function push(repo: Repository, { message, paths, untracked }: Input, call: ToolCall): Promise<string> {
  const changed = await toPush(repo, { paths, untracked });
  await mayChange(call, repo, changed);
  const specs = await repo.pathspecs(paths);
  await repo.write(['stash', 'push', '--quiet', ...(untracked ? ['--include-untracked'] : []), ...(message === undefined ? [] : [`--message=${message.replace(/\s+/g, ' ')}`]), ...(specs.length ? ['--', ...specs] : [])]);
  return `Put ${plural(changed.length, 'changed file')} aside as stash 0:\n${listed(changed.map((path) => `  ${nameText(repo.shown(path))}`), 50).join('\n')}`;
}

/** @throws OperationalError where nothing has changed, or git would refuse */
async function toPush(repo: Repository, { paths, untracked }: Pick<Input, 'paths' | 'untracked'>): Promise<string[]> {
  const status = await readStatus(repo, { paths, untracked: untracked ? 'files' : 'none' });
  if (status.commit === undefined) throw new OperationalError('There is no commit yet, and so nothing to put changes aside from. Nothing was changed.');
  if (status.conflicts.length > 0) throw new OperationalError('There are conflicts: resolve them first. Nothing was changed.');
  const changed = [...status.changes.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path])), ...status.untracked];
  if (changed.length === 0) throw new OperationalError(`There are no changes to put aside${paths ? ` in ${paths.map(nameText).join(', ')}` : ''}. Nothing was changed.${untracked ? '' : ' Untracked files count with "untracked".'}`);
  return changed;
}

async function pop(repo: Repository, { index }: Input, call: ToolCall): Promise<string> {
  const { id, subject } = await stashAt(repo, index);
  await mayChange(call, repo, await filesOf(repo, id));
  try {
    await repo.write(['stash', 'pop', '--quiet', `stash@{${index}}`]);
  } catch (error) {
    const { conflicts } = await readStatus(repo, { untracked: 'none' });
    if (conflicts.length === 0) throw error;
    throw new OperationalError(`Stash ${index} was brought back with conflicts, and is kept:\n${listed(conflicts.map(({ path }) => `  ${nameText(repo.shown(path))}`), 50).join('\n')}\nResolve them, then drop the stash.`, {}, { cause: error });
  }
  return `Brought back stash ${index} (${subject}), which was ${id.slice(0, 10)}.`;
}

async function drop(repo: Repository, { index }: Input): Promise<string> {
  const { id, subject } = await stashAt(repo, index);
  await repo.write(['stash', 'drop', '--quiet', `stash@{${index}}`]);
  return `Dropped stash ${index} (${subject}). \`git stash store ${id}\` would bring it back, until git cleans up.`;
}

async function stashAt(repo: Repository, index: number): Promise<{ readonly id: string; readonly subject: string }> {
  const stashes = await readStashes(repo);
  const found = stashes[index];
  if (!found) throw new OperationalError(stashes.length === 0 ? 'There are no stashes. Nothing was changed.' : `There is no stash ${index}: there ${stashes.length === 1 ? 'is' : 'are'} ${plural(stashes.length, 'stash', 'stashes')}, from 0. Nothing was changed.`);
  return found;
}

/** Files that a stash would change; a third parent holds what was untracked. */
async function filesOf(repo: Repository, id: string): Promise<string[]> {
  const names = async (...args: string[]): Promise<string[]> => (await repo.read(args)).split('\0').filter(Boolean);
  const changed = await names('diff', ...plainDiff, '--no-relative', '--no-renames', '--name-only', '-z', `${id}^1`, id, '--');
  const parents = (await repo.read(['rev-parse', `${id}^@`])).trim().split('\n');
  return parents[2] === undefined ? changed : [...changed, ...(await names('ls-tree', '-r', '-z', '--full-tree', '--name-only', parents[2]))];
}

async function previewOf(repo: Repository, { action, paths, untracked, index }: Input): Promise<string> {
  const [title, names] = action === 'push' ? ['Put aside', await toPush(repo, { paths, untracked })] : await stashAt(repo, index).then(async ({ id, subject }) => [`${action === 'pop' ? 'Bring back' : 'Throw away'} stash ${index} (${subject})`, await filesOf(repo, id)] as const);
  return [`${title}:`, ...listed(names.map((path) => `  ${nameText(repo.shown(path))}`), 50)].join('\n');
}
