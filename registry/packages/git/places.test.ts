/** Where a repository is, and where there is none. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from 'newt-agent';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { site, type Site } from './repositories.testing.ts';

let at: Site;
beforeEach(async () => void (at = await site()));
afterEach(() => at[Symbol.asyncDispose]());

test('no repository, and what to do', async () => {
  await using empty = await site({ bare: true });
  expect(await empty.failure('git_status')).toBe(`${empty.cwd} is not in a git repository. Name the folder of one as "repository"; \`git init\` makes a new one, if that is wanted.`);
  expect(await empty.failure('git_status', { repository: 'nowhere' })).toContain('nowhere is not a folder');
  expect(await empty.failure('git_status', { repository: '..' })).toContain('outside the workspace');
});

test.each(['a.txt/below', 'x'.repeat(5_000), 'a\0b', 'nowhere/at/all'])('a path that cannot be is news: %j', async (path) => {
  at.write({ 'a.txt': 'one\n' });
  at.commit('first');
  for (const tool of ['git_status', 'git_diff', 'git_log', 'git_show']) await at.run(tool, { paths: [path] }).catch((error: Error) => expect(error.name).toBe('OperationalError'));
  for (const tool of ['git_blame', 'git_show']) expect(await at.failure(tool, { file: path })).not.toBe('');
  for (const tool of ['git_status', 'git_commit']) expect(await at.failure(tool, { repository: path, message: 'm' })).not.toBe('');
});

test('a .git that leads nowhere', async () => {
  at.write({ 'gone/.git': 'gitdir: ../nowhere\n' });
  expect(await at.failure('git_status', { repository: 'gone' })).toMatch(/has a \.git that leads to \S*nowhere, where no repository is any more/);
});

test('no git, and what to do', async () => {
  await using poor = await site({ bare: true });
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  try {
    expect(await poor.failure('git_status')).toContain('There is no git: it was not found in PATH');
  } finally {
    process.env['PATH'] = path;
  }
});

test('a git that the repository brings is not run', async () => {
  at.write({ 'bin/git': '#!/bin/sh\n: > tripped\nexec /usr/bin/git "$@"\n' });
  chmodSync(join(at.cwd, 'bin', 'git'), 0o755);
  const path = process.env['PATH'] ?? '';
  process.env['PATH'] = `${join(at.cwd, 'bin')}:.:${path}`;
  try {
    expect(await at.text('git_status', { untracked: 'files' })).not.toContain('tripped');
  } finally {
    process.env['PATH'] = path;
  }
});

test('a repository of another user', async () => {
  await using foreign = await site({ env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } });
  const said = await foreign.failure('git_status');
  expect(said).toContain(`git refuses the repository at ${foreign.cwd}: it belongs to another user`);
  expect(said).toContain(`git config --global --add safe.directory '${foreign.cwd}'`);
  expect(await foreign.prompt()).toBeUndefined();
});

test('a bare repository: history is read, files are not', async () => {
  at.write({ 'a.txt': 'one\n' });
  at.commit('first');
  at.write({ 'a.txt': 'two\n' });
  at.commit('second');
  at.git('clone', '-q', '--bare', '.', 'bare');
  const repository = 'bare';
  expect(await at.text('git_log', { repository })).toContain('second');
  expect(await at.text('git_show', { repository })).toContain('+two');
  expect(await at.text('git_show', { repository, file: 'a.txt' })).toBe('two\n');
  expect(await at.text('git_diff', { repository, from: 'HEAD~1', to: 'HEAD', stat: true })).toBe('  a.txt  +1 -1\n1 file, +1 -1');
  expect(await at.text('git_blame', { repository, file: 'a.txt' })).toContain('two');
  expect(await at.text('git_list', { repository })).toContain('* main');
  expect(await at.failure('git_status', { repository })).toContain('bare repository');
  expect(await at.failure('git_diff', { repository })).toContain('bare repository');
  expect(await at.failure('git_commit', { repository, message: 'm' })).toContain('bare repository');
  expect(await at.failure('git_branch', { repository, action: 'create', name: 'x' })).toContain('bare repository');
  expect(await at.failure('git_stash', { repository, action: 'push' })).toContain('bare repository');
  expect(await at.failure('git_status', { repository: '.git' })).toContain('not in the working tree');
});

test('a worktree, and a repository below the workspace: paths are those of the workspace', async () => {
  at.write({ 'a.txt': 'one\n' });
  at.commit('first');
  at.git('worktree', 'add', '-q', 'trees/side', '-b', 'side');
  at.write({ 'trees/side/a.txt': 'two\n' });
  const repository = 'trees/side';
  expect(await at.text('git_status', { repository })).toBe('On branch side.\nChanged, not staged (1):\n  modified: trees/side/a.txt');
  expect(await at.text('git_diff', { repository })).toContain('--- a/trees/side/a.txt\n+++ b/trees/side/a.txt');
  expect(await at.text('git_commit', { repository, message: 'side', paths: ['trees/side/a.txt'] })).toContain('on side: side\n  trees/side/a.txt  +1 -1');
  expect(await at.failure('git_diff', { repository, paths: ['a.txt'] })).toContain('a.txt is not in the repository at');
  expect(await at.failure('git_branch', { action: 'switch', name: 'side' })).toContain('checked out in another worktree');
  expect(await at.failure('git_branch', { action: 'delete', name: 'side', force: true })).toContain('checked out');
});

test('a workspace within a repository: what lies beside it is not shown', async () => {
  at.write({ 'secret.txt': 'one\n', 'inner/a.txt': 'one\n' });
  at.commit('first');
  at.write({ 'secret.txt': 'two\n', 'inner/a.txt': 'two\n', 'beside.txt': '' });
  const cwd = join(at.cwd, 'inner');
  let allowed = cwd;
  const inside = async (name: string, input: object = {}): Promise<string> => {
    const whole = at.workspace.call();
    const call = { ...whole, session: { ...whole.session, cwd }, resolve: (path: string) => whole.resolve(join(path.startsWith('/') ? '' : cwd, path), 'read').then((real) => (real.startsWith(allowed) ? real : call.fail(`${path} lies outside`))) };
    const run = async (tool: Tool, given: object): Promise<{ text: string }> => {
      const answer = await tool.run((await tool.input.parseAsync(given)) as never, call as never);
      return typeof answer === 'string' ? { text: answer } : answer;
    };
    Object.assign(at.workspace, { run });
    return at.text(name, input);
  };
  expect(await inside('git_status')).toBe('On branch main.\nChanged, not staged (1):\n  modified: a.txt');
  expect(await inside('git_diff')).toContain('--- a/a.txt\n+++ b/a.txt');
  expect(await inside('git_diff')).not.toContain('secret');
  expect(await inside('git_diff', { stat: true })).toBe('  a.txt  +1 -1\n1 file, +1 -1');
  expect(await inside('git_show')).not.toContain('secret');
  expect(await inside('git_show')).toContain('+++ b/a.txt');
  expect(await inside('git_show', { file: '.' })).toBe('a.txt');
  expect(await inside('git_show', { file: 'a.txt' })).toBe('one\n');
  expect(await inside('git_blame', { file: 'a.txt' })).toContain('two');
  await expect(inside('git_show', { file: '../secret.txt' })).rejects.toThrow('outside');
  await expect(inside('git_diff', { paths: ['../secret.txt'] })).rejects.toThrow('outside');
  await expect(inside('git_diff', { from: 'HEAD:secret.txt' })).rejects.toThrow('names a file');
  // Unless a person allowed it.
  allowed = at.cwd;
  expect(await inside('git_diff', { paths: ['../secret.txt', 'a.txt'] })).toMatch(/--- a\/inner\/a\.txt[^]*--- a\/secret\.txt/);
});

test('a working tree that the configuration moves elsewhere is not looked at', async () => {
  await using other = await site({ bare: true });
  other.write({ 'secret.txt': 'secret' });
  at.commit('first');
  at.git('config', 'core.worktree', other.cwd);
  expect(await at.failure('git_status', { untracked: 'files' })).toContain('not in the working tree');
});

test('a .git that leads to somebody else\'s repository', async () => {
  await using other = await site();
  other.write({ 'secret.txt': 'secret' });
  other.commit('first');
  mkdirSync(join(at.cwd, 'decoy'));
  writeFileSync(join(at.cwd, 'decoy', '.git'), `gitdir: ${other.cwd}/.git\n`);
  expect(await at.failure('git_show', { repository: 'decoy' })).toContain('does not know this folder');
  mkdirSync(join(at.cwd, 'linked'));
  symlinkSync(join(other.cwd, '.git'), join(at.cwd, 'linked', '.git'));
  expect(await at.failure('git_log', { repository: 'linked' })).toContain('does not know this folder');
  mkdirSync(join(at.cwd, 'shared', '.git'), { recursive: true });
  writeFileSync(join(at.cwd, 'shared', '.git', 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(at.cwd, 'shared', '.git', 'commondir'), `${other.cwd}/.git\n`);
  expect(other.git('-C', join(at.cwd, 'shared'), 'log', '--oneline')).toContain('first');
  expect(await at.failure('git_log', { repository: 'shared' })).toContain('does not know this folder');
});

test('a worktree and a submodule whose data lie outside of the workspace lead back', async () => {
  await using other = await site();
  other.write({ 'a.txt': 'one\n' });
  other.commit('first');
  other.git('worktree', 'add', '-q', join(at.cwd, 'side'), '-b', 'side');
  expect(await at.text('git_log', { repository: 'side' })).toContain('first');
  mkdirSync(join(other.cwd, '.git', 'modules'));
  other.git('clone', '-q', '--separate-git-dir', join(other.cwd, '.git', 'modules', 'm'), '.', join(at.cwd, 'module'));
  expect(await at.failure('git_log', { repository: 'module' })).toContain('can add it to tools.paths');
  at.git('-C', join(other.cwd, '.git', 'modules', 'm'), 'config', 'core.worktree', join(at.cwd, 'module'));
  expect(await at.text('git_log', { repository: 'module' })).toContain('first');
});
