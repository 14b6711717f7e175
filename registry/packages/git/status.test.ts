import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { site, type Site } from './repositories.testing.ts';

let at: Site;
beforeEach(async () => void (at = await site()));
afterEach(() => at[Symbol.asyncDispose]());

/** Names that are cut or quoted wrongly by whoever reads git's output for people. */
const nasty = ['with blank.txt', ' lead', 'trail ', 'quote"d', "it's", 'tab\tbed', 'new\nline', '日本語.txt', 'é', 'a -> b', '-dash', ':(top)x', '*.glob', 'back\\slash', '[x]', '\u001b[2Jclear', '# hash', '? mark', '1 M. N... 1'];

test('before the first commit', async () => {
  expect(await at.text('git_status')).toBe('On branch main, no commit yet.\nNothing changed.');
});

test('staged, changed, untracked, renamed, and the same as data', async () => {
  at.write({ 'a.txt': 'a\n'.repeat(20), 'b.txt': 'b', 'c.txt': 'c', 'd/e.txt': 'e' });
  at.commit('first');
  at.git('mv', 'a.txt', 'moved.txt');
  at.write({ 'b.txt': 'changed', 'new/1.txt': '', 'new/2.txt': '', 'staged.txt': 'x' });
  at.git('add', 'staged.txt');
  rmSync(join(at.cwd, 'c.txt'));
  const { text, data } = await at.run('git_status');
  expect(text).toBe(`On branch main.
Staged (2):
  renamed: a.txt → moved.txt
  added: staged.txt
Changed, not staged (2):
  modified: b.txt
  deleted: c.txt
Untracked (1):
  new/`);
  expect(data).toMatchObject({ branch: 'main', stashes: 0, untracked: ['new/'], conflicts: [], changes: expect.arrayContaining([{ path: 'moved.txt', from: 'a.txt', staged: 'R', unstaged: '.', isSubmodule: false }]) });
  expect(await at.text('git_status', { untracked: 'files' })).toContain('Untracked (2):\n  new/1.txt\n  new/2.txt');
  expect(await at.text('git_status', { untracked: 'none' })).not.toContain('new/');
  expect(await at.text('git_status', { paths: ['.'] })).toBe(text);
  expect(await at.text('git_status', { paths: ['b.txt'] })).toBe('On branch main.\nChanged, not staged (1):\n  modified: b.txt');
});

test('every name is one line, and can be told from its neighbours', async () => {
  at.write(Object.fromEntries(nasty.map((name) => [name, 'x'])));
  const { text, data } = await at.run('git_status', { untracked: 'files' });
  expect((data as { untracked: string[] }).untracked.sort()).toEqual([...nasty].sort());
  expect(text.split('\n')).toHaveLength(2 + nasty.length);
  expect(text).toContain('\n  日本語.txt');
  expect(text).toContain('\n  "new\\nline"');
  expect(text).not.toContain('\u001b');
  at.commit('all');
  for (const name of nasty) appendFileSync(join(at.cwd, name), 'more');
  const changed = (await at.run('git_status')).data as { changes: { path: string }[] };
  expect(changed.changes.map(({ path }) => path).sort()).toEqual([...nasty].sort());
  for (const name of nasty) expect((await at.run('git_status', { paths: [name] })).data).toMatchObject({ changes: [{ path: name }] });
});

test('a rename to and from names with blanks and line ends', async () => {
  at.write({ 'old\nname x': 'text\n'.repeat(30) });
  at.commit('first');
  at.git('mv', 'old\nname x', '新 name');
  expect((await at.run('git_status')).data).toMatchObject({ changes: [{ path: '新 name', from: 'old\nname x', staged: 'R' }] });
});

test('ahead, behind, and an upstream that is gone', async () => {
  at.commit('first');
  at.git('clone', '-q', '--bare', '.', '.git/elsewhere');
  at.git('remote', 'add', 'origin', join(at.cwd, '.git/elsewhere'));
  at.git('fetch', '-q');
  at.git('branch', '-q', '-u', 'origin/main');
  expect(await at.text('git_status')).toContain('On branch main, up to date (origin/main).');
  at.commit('second');
  expect(await at.text('git_status')).toContain('On branch main, 1 ahead (origin/main).');
  at.git('push', '-q');
  at.git('reset', '-q', '--hard', 'HEAD~1');
  at.commit('other');
  expect(await at.text('git_status')).toContain('1 ahead, 1 behind (origin/main)');
  at.git('update-ref', '-d', 'refs/remotes/origin/main');
  expect(await at.text('git_status')).toContain('whose upstream is gone: origin/main');
});

test('HEAD without a branch', async () => {
  at.commit('first');
  at.git('switch', '-q', '--detach');
  expect(await at.text('git_status')).toMatch(/^HEAD is detached at [0-9a-f]{10}: new commits would be on no branch\.\nNothing changed\.$/);
});

test.each([
  ['merge', 'A merge'],
  ['rebase', 'A rebase'],
  ['cherry-pick', 'A cherry-pick'],
])('a %s with a conflict', async (command, words) => {
  at.write({ 'f.txt': 'base\n' });
  at.commit('base');
  at.git('switch', '-q', '-c', 'side');
  at.write({ 'f.txt': 'side\n' });
  at.commit('side');
  at.git('switch', '-q', 'main');
  at.write({ 'f.txt': 'main\n' });
  at.commit('main');
  expect(() => at.git(command, 'side')).toThrow();
  const text = await at.text('git_status');
  expect(text).toContain(`${words} is in progress, with 1 conflict.`);
  expect(text).toContain('Conflicts (1):\n  both modified: f.txt');
  expect(await at.failure('git_branch', { action: 'switch', name: 'side' })).toContain(`${words} is in progress`);
});

test('more files than can be shown are counted', async () => {
  at.write(Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`f${index}`, ''])));
  expect(await at.text('git_status', { untracked: 'files' })).toContain('Untracked (130):');
  expect(await at.text('git_status', { untracked: 'files' })).toContain('… and 30 more');
});

test('a submodule that moved on', async () => {
  mkdirSync(join(at.cwd, 'module'));
  at.git('init', '-q', '-b', 'main', 'module');
  at.git('-C', 'module', 'commit', '-q', '--allow-empty', '-m', 'one');
  at.git('add', 'module');
  at.commit('with module');
  at.git('-C', 'module', 'commit', '-q', '--allow-empty', '-m', 'two');
  expect(await at.text('git_status')).toContain('modified: module (submodule)');
  expect(await at.text('git_status', { repository: 'module' })).toBe('On branch main.\nNothing changed.');
  at.write({ 'module/x.txt': 'x' });
  expect(await at.text('git_status', { repository: 'module' })).toContain('Untracked (1):\n  module/x.txt');
  expect(await at.failure('git_commit', { message: 'x', paths: ['module/x.txt'] })).toContain('submodule module');
});

test('the line in the prompt', async () => {
  at.write({ 'a.txt': 'a' });
  expect(await at.prompt()).toBe('Git when this began: branch main without a commit, no tracked file changed. git_status tells how it is now.');
  at.commit('first');
  at.write({ 'a.txt': 'b' });
  // It is kept for a moment.
  expect(await at.prompt()).toContain('without a commit');
  mkdirSync(join(at.cwd, 'below'));
  expect(await at.prompt(join(at.cwd, 'below'))).toContain('branch main, no tracked file changed');
  await using other = await site({ bare: true });
  expect(await other.prompt()).toBeUndefined();
  await using off = await site({ config: { prompt: false } });
  expect(await off.prompt()).toBeUndefined();
  await using broken = await site({ env: { PATH: '/nowhere' }, bare: true });
  mkdirSync(join(broken.cwd, '.git'));
  expect(await broken.prompt()).toBeUndefined();
});
