/** `git_branch` */
import { OperationalError, type Tool, tool, type ToolCall, z } from 'newt-agent';
import { listed, nameText, plural } from './bounded-text.ts';
import { commitLine, commitFormat, parseCommits, plainLog } from './log.ts';
import { commitOf, isUnborn, mayChange, openRepository, operationInProgress, refInput, type Repository, repositoryInput, touched } from './repository.ts';
import type { Git } from './run-git.ts';
import { readStatus } from './status.ts';
import { plainDiff } from './surroundings.ts';

const input = z.object({
  action: z.enum(['create', 'switch', 'delete']),
  name: z.string().min(1).max(250),
  from: refInput.optional().describe('create: where it begins; default: HEAD'),
  switch: z.boolean().default(true).describe('create: also switch to it'),
  force: z.boolean().default(false).describe('delete: also with commits that are on no other branch'),
  repository: repositoryInput,
});

type Input = z.output<typeof input>;

/** @param protect names of branches that are not deleted; `release/*` for all that begin so */
export function branchTool(git: Git, protect: readonly string[]): Tool {
  return tool({
    description: 'Create, switch to or delete a branch. Local changes are never overwritten. git_list lists branches.',
    input,
    // Hooks of the repository and filters run, as they do whenever git changes something.
    effect: 'exec',
    deadline: 600,
    touches: (request) => touched(request),
    preview: async (request, call) => previewOf(await openRepository(git, call, request.repository), request),
    run: async (request, call) => {
      const repo = await openRepository(git, call, request.repository);
      // A folder of the workspace that looks like one would bring hooks of its own.
      if (repo.isBare) call.fail('This is a bare repository: its branches are not changed from here. Use a clone or a worktree of it.');
      if (request.action === 'create') return create(repo, request, call);
      return request.action === 'switch' ? switchTo(repo, request, call) : remove(repo, request, protect);
    },
  });
}

async function create(repo: Repository, { name, from, switch: also }: Input, call: ToolCall): Promise<string> {
  await checkName(repo, name);
  if (await exists(repo, name)) throw new OperationalError(`There is a branch ${nameText(name)} already. Nothing was changed. Switch to it, or choose another name.`);
  const commit = from === undefined ? [] : [await commitOf(repo, from)];
  const tracked = from === undefined ? undefined : await remoteBranch(repo, from);
  // A branch of a remote is named, not its commit, so that git remembers where it comes from.
  const start = tracked === undefined ? ['--no-track', name, ...commit] : ['--track', name, tracked];
  if (!also) {
    await repo.write(['branch', ...start]);
    return `Created the branch ${nameText(name)}${from === undefined ? '' : ` at ${from}`}; you are still on the old one.`;
  }
  if (commit[0] !== undefined) await mayChange(call, repo, await changedBetween(repo, commit[0]));
  // `-c` takes the name as its value.
  await repo.write(['switch', '--no-guess', start[0] ?? '--no-track', '-c', name, ...start.slice(2)]);
  return `Created the branch ${nameText(name)}${from === undefined ? '' : ` at ${from}`}${tracked === undefined ? '' : `, which follows ${from}`}, and switched to it.`;
}

async function switchTo(repo: Repository, { name }: Input, call: ToolCall): Promise<string> {
  await checkName(repo, name);
  if (!(await exists(repo, name))) throw new OperationalError(`There is no branch ${nameText(name)}. Nothing was changed. git_list lists branches; "create" with "from" makes one of a remote branch or a commit.`);
  const doing = operationInProgress(repo);
  if (doing !== undefined) throw new OperationalError(`${doing} is in progress: finish it, or ask the person whether to give it up, before you switch. Nothing was changed.`);
  await mayChange(call, repo, await changedBetween(repo, `refs/heads/${name}`));
  await repo.write(['switch', '--no-guess', name, '--']);
  const { changes, untracked } = await readStatus(repo);
  const kept = changes.length + untracked.length;
  return `Switched to the branch ${nameText(name)}.${kept === 0 ? '' : ` ${plural(kept, 'uncommitted change')} came along.`}`;
}

async function remove(repo: Repository, { name, force }: Input, protect: readonly string[]): Promise<string> {
  await checkName(repo, name);
  if (protect.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name))) throw new OperationalError(`The branch ${nameText(name)} is protected (plugins.config.git.protect), and not deleted by a tool. Nothing was changed.`);
  if (!(await exists(repo, name))) throw new OperationalError(`There is no branch ${nameText(name)}. Nothing was changed. git_list lists branches.`);
  const id = (await repo.read(['rev-parse', '--verify', '--quiet', `refs/heads/${name}`])).trim();
  const lost = force ? [] : await onlyOn(repo, name);
  if (lost.length > 0) throw new OperationalError(`The branch ${nameText(name)} has commits that are on no other branch or tag:\n${listed(lost, 10).join('\n')}\nNothing was changed. "force" deletes it all the same: ask the person first.`);
  // What git calls unmerged is judged against HEAD or its upstream; the commits are safe wherever else they are.
  await repo.write(['branch', '-D', name]);
  return `Deleted the branch ${nameText(name)}, which was at ${id.slice(0, 10)}: git_branch create with "from" ${id.slice(0, 10)} brings it back.`;
}

async function previewOf(repo: Repository, { action, name, from, force }: Input): Promise<string> {
  await checkName(repo, name);
  if (action === 'create') return `git branch ${nameText(name)}${from === undefined ? '' : ` from ${from}`}`;
  if (action === 'switch') return `git switch ${nameText(name)}`;
  const lost = (await exists(repo, name)) ? await onlyOn(repo, name) : [];
  return [`git branch ${force ? '-D' : '-d'} ${nameText(name)}`, ...(lost.length ? [`Commits that are on no other branch or tag${force ? ', and would be lost' : ''}:`, ...listed(lost, 10)] : [])].join('\n');
}

/** Commits that nothing else leads to, one line each; one more than is ever shown. */
async function onlyOn(repo: Repository, name: string): Promise<string[]> {
  const output = await repo.read(['log', '-z', commitFormat, ...plainLog, '--no-patch', '--max-count=100', `refs/heads/${name}`, '--not', `--exclude=${name}`, '--branches', '--remotes', '--tags', '--']);
  return parseCommits(output).map((commit) => `  ${commitLine({ ...commit, names: '' })}`);
}

/** Files that differ between HEAD and a commit, from the top. */
async function changedBetween(repo: Repository, commit: string): Promise<string[]> {
  if (await isUnborn(repo)) return (await repo.read(['ls-tree', '-r', '-z', '--full-tree', '--name-only', commit])).split('\0').filter(Boolean);
  return (await repo.read(['diff', ...plainDiff, '--no-relative', '--no-renames', '--name-only', '-z', 'HEAD', commit, '--'])).split('\0').filter(Boolean);
}

async function exists(repo: Repository, name: string): Promise<boolean> {
  return (await repo.read(['for-each-ref', '--format=%(refname)', `refs/heads/${name}`])).split('\n').includes(`refs/heads/${name}`);
}

async function remoteBranch(repo: Repository, from: string): Promise<string | undefined> {
  if (/[*?[\\\s]/.test(from)) return undefined;
  const ref = `refs/remotes/${from.replace(/^(refs\/)?remotes\//, '')}`;
  return (await repo.read(['for-each-ref', '--format=%(refname)', ref])).split('\n').includes(ref) ? ref : undefined;
}

/** @throws OperationalError for what is no name, which includes all that looks like an option or a revision */
async function checkName(repo: Repository, name: string): Promise<void> {
  const refuse = (): never => {
    throw new OperationalError(`${JSON.stringify(name)} is not the name of a branch. Nothing was changed.`);
  };
  // Half of a character is another one on disk.
  if (!name.isWellFormed() || name.startsWith('-') || name === 'HEAD' || name === '@' || name.startsWith('refs/')) refuse();
  try {
    await repo.read(['check-ref-format', `refs/heads/${name}`]);
  } catch (error) {
    if ((error as OperationalError).details?.['exitCode'] !== 1) throw error;
    refuse();
  }
}
