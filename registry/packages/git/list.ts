/** `git_list`: what a repository has, apart from files and commits. */
import { type Tool, tool, z } from 'newt-agent';
import { listed, nameText } from './bounded-text.ts';
import { parseCommits, commitFormat, plainLog } from './log.ts';
import { openRepository, type Repository, repositoryInput, touched } from './repository.ts';
import type { Git } from './run-git.ts';

const maxShown = 200;

const lists = { branches, tags, stashes, remotes, worktrees } as const;

export function listTool(git: Git): Tool {
  return tool({
    description: 'List branches, tags, stashes, remotes or worktrees.',
    input: z.object({ what: z.enum(['branches', 'tags', 'stashes', 'remotes', 'worktrees']).default('branches'), repository: repositoryInput }),
    effect: 'read',
    touches: (request) => touched(request),
    run: async ({ what, repository }, call) => {
      const lines = await lists[what](await openRepository(git, call, repository));
      return lines.length === 0 ? `There are no ${what}.` : listed(lines, maxShown).join('\n');
    },
  });
}

/** References as rows of fields. No name of a reference holds a control character, and subjects are one line. */
async function refs(repo: Repository, fields: readonly string[], sort: string, places: readonly string[]): Promise<string[][]> {
  // More than a page is never shown.
  const output = await repo.read(['for-each-ref', `--format=${fields.map((field) => `%(${field})`).join('%00')}`, `--sort=${sort}`, `--count=${maxShown + 1_000}`, ...places]);
  return output.split('\n').filter(Boolean).map((line) => line.split('\0'));
}

async function branches(repo: Repository): Promise<string[]> {
  const fields = ['HEAD', 'refname', 'objectname:short', 'committerdate:short', 'upstream:short', 'upstream:track,nobracket', 'symref', 'subject'];
  const rows = await refs(repo, fields, '-committerdate', ['refs/heads', 'refs/remotes']);
  return rows
    .filter(([, , , , , , symref]) => !symref)
    .map(([head, ref = '', id, date, upstream, track, , subject = '']) => `${head === '*' ? '* ' : '  '}${ref.replace(/^refs\/(heads|remotes)\//, '')}${ref.startsWith('refs/remotes/') ? ' (remote)' : ''}  ${id} ${date}${upstream ? ` [${upstream}${track ? `: ${track}` : ''}]` : ''}  ${subject.slice(0, 100)}`);
}

async function tags(repo: Repository): Promise<string[]> {
  const rows = await refs(repo, ['refname', 'objectname:short', '*objectname:short', 'creatordate:short', 'subject'], '-creatordate', ['refs/tags']);
  return rows.map(([ref = '', own, target, date, subject = '']) => `${ref.slice('refs/tags/'.length)}  ${target || own} ${date}  ${subject.slice(0, 100)}`);
}

async function stashes(repo: Repository): Promise<string[]> {
  return (await readStashes(repo)).map(({ id, date, subject }, index) => `${index}: ${date.slice(0, 16).replace('T', ' ')} ${subject.slice(0, 200)} (${id.slice(0, 10)})`);
}

/** Newest first: its place is the number of a stash. */
export async function readStashes(repo: Repository): Promise<{ readonly id: string; readonly date: string; readonly subject: string }[]> {
  const has = (await repo.read(['for-each-ref', '--format=%(objectname)', 'refs/stash'])).trim();
  if (has === '') return [];
  // The log's own message (%gs) is what the person named it; `%gd` would be a date under some settings.
  const output = await repo.read(['log', '--walk-reflogs', '-z', commitFormat.replace('%s', '%gs'), ...plainLog, '--no-patch', `--max-count=${maxShown + 1}`, 'refs/stash', '--']);
  return parseCommits(output);
}

async function remotes(repo: Repository): Promise<string[]> {
  const output = await repo.read(['config', '-z', '--get-regexp', '^remote\\..*\\.(url|pushurl)$']).catch((error: { details?: { exitCode?: number } }) => {
    if (error.details?.exitCode === 1) return '';
    throw error;
  });
  return output.split('\0').filter(Boolean).map((field) => {
    const [key = '', ...value] = field.split('\n');
    const [, name = '', kind] = /^remote\.([\s\S]*)\.(url|pushurl)$/.exec(key) ?? [];
    return `${nameText(name)}  ${nameText(withoutPassword(value.join('\n')))}${kind === 'pushurl' ? ' (push)' : ''}`;
  });
}

/** Addresses of remotes are where people keep tokens. */
export function withoutPassword(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');
}

async function worktrees(repo: Repository): Promise<string[]> {
  const output = await repo.read(['worktree', 'list', '--porcelain', '-z']);
  return output.split('\0\0').filter(Boolean).map((block) => {
    const facts = new Map(block.split('\0').filter(Boolean).map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)] as const));
    const branch = facts.get('branch')?.replace(/^refs\/heads\//, '');
    return `${nameText(facts.get('worktree') ?? '')}  ${facts.has('bare') ? 'bare' : `${branch ?? 'detached'} ${facts.get('HEAD')?.slice(0, 10) ?? ''}`}${facts.has('locked') ? ' locked' : ''}${facts.has('prunable') ? ' gone' : ''}`;
  });
}
