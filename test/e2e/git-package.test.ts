/** The first-party plugin `git`, added as a person would, called by a scripted model through `use_tool`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { type ModelServer, type Script, startModelServer } from '../support/model-server.ts';

const folder = resolve(import.meta.dirname, '../../registry/packages/git');

let place: Place;
let server: ModelServer;
const git = (...args: string[]): string => execFileSync('git', args, { cwd: place.workspace, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: place.root } });
const use = (name: string, args: object) => ({ name: 'use_tool', arguments: { name, args } });
const results = (): { name: string; text: string; isError: boolean }[] => place.events().filter(({ type }) => type === 'tool.result').map(({ data }) => data as { name: string; text: string; isError: boolean });

async function stage(script: Script): Promise<void> {
  server = await startModelServer(script);
  place = createPlace(server.url);
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  place.write({ 'a file.txt': 'one\n' });
  git('add', '.');
  git('commit', '-qm', 'first');
  place.write({ 'a file.txt': 'two\n', '新.txt': 'new\n' });
  const added = await place.agent(['plugin', 'add', folder, '--yes']);
  expect(added).toMatchObject({ code: 0, stdout: `Added git 0.1.0 (${folder})\n` });
}

afterEach(async () => {
  await server.close();
  place.remove();
});

test('is found, looks, commits, and says what it did', async () => {
  await stage([
    { toolCalls: [{ name: 'tool_search', arguments: { query: 'git commit' } }] },
    { toolCalls: [use('git_status', {}), use('git_diff', {})] },
    { toolCalls: [use('git_branch', { action: 'create', name: 'feature/x' })] },
    { toolCalls: [use('git_commit', { message: 'Second\n\nWhy.', paths: ['a file.txt', '新.txt'] })] },
    { toolCalls: [use('git_log', { max: 1 }), use('git_show', { stat: true }), use('git_blame', { file: '新.txt' }), use('git_list', {}), use('git_commit', { message: 'nothing' })] },
    { text: 'committed' },
  ]);
  const done = await place.agent(['run', '--yes', 'commit my work on a branch']);
  expect(done).toMatchObject({ code: 0, stdout: 'committed\n' });
  const prompt = String(server.requests[0]?.body.messages[0]?.content);
  expect(prompt).toContain('Git when this began: branch main, 1 tracked file changed. git_status tells how it is now.');
  const [found, status, diff, branch, commit, log, show, blame, list, nothing] = results();
  expect(found?.text).toContain('git_commit');
  expect(status).toMatchObject({ name: 'git_status', isError: false, text: 'On branch main.\nChanged, not staged (1):\n  modified: a file.txt\nUntracked (1):\n  新.txt' });
  expect(diff?.text).toContain('-one\n+two');
  expect(branch?.text).toBe('Created the branch feature/x, and switched to it.');
  expect(commit?.text).toMatch(/^Committed [0-9a-f]{7,} on feature\/x: Second\n {2}a file\.txt {2}\+1 -1\n {2}新\.txt {2}\+1 -0/);
  expect(log?.text).toMatch(/Ada \(HEAD -> feature\/x\): Second\n\(There are more/);
  expect(show?.text).toContain('    Why.');
  expect(blame?.text).toContain('     1  new');
  expect(list?.text).toContain('* feature/x');
  expect(nothing).toMatchObject({ isError: true, text: expect.stringContaining('Nothing is staged') as string });
  expect(git('log', '--format=%s', 'feature/x')).toBe('Second\nfirst\n');
  expect(git('status', '--porcelain')).toBe('');
});

test('where nobody can be asked it looks, and changes nothing', async () => {
  await stage([{ toolCalls: [use('git_status', {}), use('git_commit', { message: 'm', paths: ['a file.txt'] }), use('git_stash', { action: 'push' }), use('git_branch', { action: 'create', name: 'x' }), use('git_log', { repository: '..' })] }, { text: 'I may only look.' }]);
  const done = await place.agent(['run', 'commit']);
  expect(done.code).toBe(0);
  const [status, ...refused] = results();
  expect(status?.isError).toBe(false);
  for (const { text, isError } of refused) expect({ text, isError }).toMatchObject({ isError: true, text: expect.stringContaining('Not allowed') as string });
  expect(git('log', '--format=%s')).toBe('first\n');
  expect(git('branch', '--format=%(refname:short)')).toBe('main\n');
  expect(git('stash', 'list')).toBe('');
});

test('a folder without a repository is news, and no fault', async () => {
  await stage([{ toolCalls: [use('git_status', {})] }, { text: 'none here' }]);
  mkdirSync(join(place.root, 'plain'));
  const done = await place.agent(['run', 'look'], { cwd: join(place.root, 'plain') });
  expect(done).toMatchObject({ code: 0, stdout: 'none here\n', stderr: expect.not.stringContaining('fault') as string });
  expect(results()[0]).toMatchObject({ isError: true, text: expect.stringContaining('is not in a git repository') as string });
  expect(String(server.requests[0]?.body.messages[0]?.content)).not.toContain('Git when');
  expect(place.events().filter(({ type }) => type === 'fault')).toEqual([]);
});
