/** `git_show` */
import { OperationalError, type Tool, tool, type ToolResult, z } from 'newt-agent';
import { nameText } from './bounded-text.ts';
import { diffText } from './diff.ts';
import { plainLog } from './log.ts';
import { commitOf, openRepository, pathsInput, refInput, type Repository, repositoryInput, touched } from './repository.ts';
import type { Git } from './run-git.ts';

const maxFileBytes = 5_000_000;
const maxMessage = 20_000;

export function showTool(git: Git): Tool {
  return tool({
    description: 'Show a commit (or what a tag points to): message and diff. With "file", that file as it was then.',
    input: z.object({
      ref: refInput.default('HEAD').describe('branch, tag or commit'),
      file: z.string().min(1).optional().describe('the content of this file, or the names in this folder, at that commit'),
      paths: pathsInput.optional().describe('only the changes of these'),
      stat: z.boolean().default(false).describe('only how many lines of which files'),
      context: z.int().min(0).max(100).default(3).describe('unchanged lines around a change'),
      repository: repositoryInput,
    }),
    effect: 'read',
    touches: ({ repository, paths = [], file }) => touched({ repository, paths: file === undefined ? paths : [...paths, file] }),
    run: async ({ ref, file, paths, stat, context, repository }, call) => {
      const repo = await openRepository(git, call, repository);
      const commit = await commitOf(repo, ref);
      if (file !== undefined) return fileAt(repo, commit, ref, await repo.fromTop(file));
      const specs = await repo.pathspecs(paths);
      const [tag, header] = await Promise.all([tagText(repo, ref), repo.read(['log', '--max-count=1', ...plainLog, '--no-patch', '--format=tformat:%H%x00%P%x00%an <%ae>%x00%aI%x00%cn <%ce>%x00%D%x00%B', commit, '--'])]);
      const [id = '', parents = '', author = '', date = '', committer = '', names = '', message = ''] = header.split('\0');
      const first = parents.split(' ').filter(Boolean);
      // A merge is shown as what it brought to the branch it was made on.
      const changes = await diffText(repo, first[0] === undefined ? ['diff-tree', '--root', '--no-commit-id', '-r', commit] : ['diff', first[0], commit], specs, { onlyStat: stat, context, narrowed: paths?.length === 1 });
      return [
        ...tag,
        `commit ${id}${names ? ` (${names})` : ''}`,
        ...(first.length > 1 ? [`Merge of ${first.map((one) => one.slice(0, 10)).join(' and ')}; the changes are those against the first`] : []),
        `Author: ${author}, ${date}`,
        ...(committer === author ? [] : [`Committer: ${committer}`]),
        '',
        ...message.trimEnd().slice(0, maxMessage).split('\n').map((line) => `    ${line}`.trimEnd()),
        '',
        changes || `(no changes${paths || repo.scope ? ' here' : ''})`,
      ].join('\n');
    },
  });
}

/** What an annotated tag says of itself. */
async function tagText(repo: Repository, ref: string): Promise<string[]> {
  const type = await repo.read(['rev-parse', '--verify', '--quiet', '--end-of-options', ref]).then((id) => repo.read(['cat-file', '-t', id.trim()]).then((kind) => [id.trim(), kind.trim()]));
  if (type[1] !== 'tag') return [];
  const text = await repo.read(['cat-file', 'tag', type[0] ?? '']);
  const [head = '', ...body] = text.split('\n\n');
  const tagger = /^tagger (.*) \d+ [+-]\d+$/m.exec(head)?.[1];
  return [`tag ${/^tag (.*)$/m.exec(head)?.[1] ?? ref}${tagger === undefined ? '' : ` by ${tagger}`}`, '', ...body.join('\n\n').trimEnd().slice(0, maxMessage).split('\n').map((line) => `    ${line}`.trimEnd()), ''];
}

async function fileAt(repo: Repository, commit: string, ref: string, path: string): Promise<ToolResult | string> {
  const shown = nameText(repo.shown(path === '.' ? '' : path) || '.');
  // The names of a tree say what is there without a guess at the words of an error.
  const entry = path === '.' ? undefined : (await repo.read(['ls-tree', '-z', '--full-tree', commit, '--', path])).split('\0')[0];
  const [, mode, type, id = ''] = /^(\d+) (\w+) ([0-9a-f]+)\t/.exec(entry ?? '') ?? [];
  if (path === '.' || type === 'tree') return folderAt(repo, commit, path === '.' ? '' : `${path}/`, shown);
  if (type === undefined) throw new OperationalError(`There is no ${shown} in ${ref}. With a folder as "file" its names are listed.`);
  if (type === 'commit') return `${shown} is a submodule, at its commit ${id}.`;
  const bytes = Number(await repo.read(['cat-file', '-s', id]));
  if (bytes > maxFileBytes) throw new OperationalError(`${shown} has ${bytes} bytes in ${ref}, and at most ${maxFileBytes} are shown. git_diff with "paths" shows what changed in it.`);
  const text = await repo.read(['cat-file', 'blob', id]);
  if (text.includes('\0')) return `${shown} is a binary file of ${bytes} bytes in ${ref}.`;
  if (mode === '120000') return `${shown} is a symbolic link to ${nameText(text)} in ${ref}.`;
  return bytes === 0 ? `${shown} is empty in ${ref}.` : text;
}

const maxNames = 500;

async function folderAt(repo: Repository, commit: string, folder: string, shown: string): Promise<string> {
  const inside = folder === '' ? repo.scope : folder;
  const entries = (await repo.read(['ls-tree', '-z', '--full-tree', commit, '--', ...(inside === '' ? [] : [inside])])).split('\0').filter(Boolean);
  const names = entries.map((entry) => `${nameText(repo.shown(entry.slice(entry.indexOf('\t') + 1)))}${/^\d+ tree /.test(entry) ? '/' : ''}`);
  return names.length === 0 ? `${shown} is empty.` : [...names.slice(0, maxNames), ...(names.length > maxNames ? [`… and ${names.length - maxNames} more`] : [])].join('\n');
}
