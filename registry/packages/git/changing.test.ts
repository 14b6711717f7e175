/** What changes a repository: branches, commits, stashes. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { site, type Site } from './repositories.testing.ts';

let at: Site;
beforeEach(async () => {
  at = await site();
  at.write({ 'a.txt': 'one\n' });
  at.commit('first');
});
afterEach(() => at[Symbol.asyncDispose]());

const head = (): string => at.git('rev-parse', 'HEAD').trim();
const branch = (): string => at.git('branch', '--show-current').trim();
const read = (name: string): string => readFileSync(join(at.cwd, name), 'utf8');

function hook(name: string, body: string): void {
  writeFileSync(join(at.cwd, '.git', 'hooks', name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

/** A branch `side` that changes the same line as `main` did since. */
function conflict(): void {
  at.git('switch', '-q', '-c', 'side');
  at.write({ 'a.txt': 'side\n' });
  at.commit('side');
  at.git('switch', '-q', 'main');
  at.write({ 'a.txt': 'main\n' });
  at.commit('main');
}

describe('git_commit', () => {
  test('paths: changed, new and deleted, and nothing else', async () => {
    at.write({ 'a.txt': 'two\n', 'new file.txt': 'n\n', 'other.txt': 'o', 'gone.txt': 'x\n' });
    at.git('add', 'gone.txt', 'other.txt');
    at.git('commit', '-qm', 'more', 'gone.txt');
    rmSync(join(at.cwd, 'gone.txt'));
    const preview = await at.preview('git_commit', { message: 'work\n\n# body', paths: ['a.txt', 'new file.txt', 'gone.txt'] });
    expect(preview).toBe('Commit on main:\n    work\n\n    # body\n  a.txt  +1 -1\n  gone.txt  +0 -1\n2 files, +1 -2\n  new: new file.txt\nThe repository has no hooks for this.');
    const text = await at.text('git_commit', { message: 'work\n\n# body', paths: ['a.txt', 'new file.txt', 'gone.txt'] });
    expect(text).toMatch(/^Committed [0-9a-f]{7,} on main: work\n {2}a\.txt {2}\+1 -1\n {2}gone\.txt {2}\+0 -1\n {2}new file\.txt {2}\+1 -0\n3 files, \+2 -2$/);
    expect(at.git('log', '-1', '--format=%B').trim()).toBe('work\n\n# body');
    expect(at.git('status', '--porcelain')).toBe('A  other.txt\n');
  });

  test('what is staged', async () => {
    at.write({ 'a.txt': 'staged\n' });
    at.git('add', 'a.txt');
    at.write({ 'a.txt': 'not staged\n' });
    expect(await at.preview('git_commit', { message: 'm' })).toContain('a.txt  +1 -1');
    await at.run('git_commit', { message: 'm' });
    expect(at.git('show', 'HEAD:a.txt')).toBe('staged\n');
    expect(read('a.txt')).toBe('not staged\n');
  });

  test('the first, and one on no branch', async () => {
    await using empty = await site();
    empty.write({ x: 'x\n' });
    expect(await empty.preview('git_commit', { message: 'm', paths: ['x'] })).toContain('Commit on main, the first:');
    expect(await empty.text('git_commit', { message: 'm', paths: ['x'] })).toContain('on main: m\n  x  +1 -0');
    empty.git('switch', '-q', '--detach');
    empty.write({ x: 'y\n' });
    expect(await empty.text('git_commit', { message: 'n', paths: ['x'] })).toContain('on no branch: HEAD is detached. git_branch create keeps it: n');
  });

  test.each([
    [{ message: 'm' }, 'Nothing is staged. Nothing was committed. git_status'],
    [{ message: 'm', paths: ['a.txt'] }, 'Nothing has changed in a.txt'],
    [{ message: 'm', paths: ['nowhere'] }, 'git knows no file nowhere'],
    [{ message: 'm', paths: ['/etc/passwd'] }, 'outside the workspace'],
  ])('%j is refused', async (input, message) => {
    const before = head();
    expect(await at.failure('git_commit', input)).toContain(message);
    await expect(at.preview('git_commit', input)).rejects.toThrow(message);
    expect(head()).toBe(before);
  });

  test('nothing staged names what could be', async () => {
    at.write({ 'a.txt': 'two\n' });
    expect(await at.failure('git_commit', { message: 'm' })).toContain('to be named in "paths":\n  a.txt');
    await expect(at.run('git_commit', { message: ' \n' })).rejects.toThrow('must say what was done');
  });

  test('a message and paths that look like options are what they are', async () => {
    at.write({ '--amend': 'x\n', ':(exclude)a.txt': 'y\n' });
    await at.run('git_commit', { message: '--no-verify', paths: ['--amend', ':(exclude)a.txt'] });
    expect(at.git('log', '-1', '--format=%s')).toBe('--no-verify\n');
    expect(at.git('ls-files', '-z').split('\0').filter(Boolean).sort()).toEqual(['--amend', ':(exclude)a.txt', 'a.txt']);
  });

  test('hooks run, see nothing of ours, can refuse, and are named before', async () => {
    hook('pre-commit', 'env | grep -E "^GIT_(CONFIG_PARAMETERS|OPTIONAL_LOCKS|ALLOW_PROTOCOL)=" > seen.txt; git ls-files "*.txt" >> seen.txt; echo checked >&2; exit 1');
    at.write({ 'a.txt': 'two\n' });
    expect(await at.preview('git_commit', { message: 'm', paths: ['a.txt'] })).toContain('Runs the hook pre-commit of the repository.');
    const before = head();
    const said = await at.failure('git_commit', { message: 'm', paths: ['a.txt'] });
    expect(said).toMatch(/^Nothing was committed\. git commit failed with exit code 1: checked\na\.txt is staged now\.$/);
    expect(head()).toBe(before);
    expect(read('seen.txt')).toBe('a.txt\n');
    at.git('config', 'hook.linter.event', 'commit-msg');
    at.git('config', 'hook.other.event', 'pre-push');
    expect(await at.preview('git_commit', { message: 'm', paths: ['a.txt'] })).toContain('Runs the hooks pre-commit, linter (commit-msg) of the repository.');
    at.git('config', '--remove-section', 'hook.linter');
    hook('pre-commit', 'exit 0');
    hook('commit-msg', 'echo "signed off" >> "$1"');
    await at.run('git_commit', { message: 'm', paths: ['a.txt'] });
    expect(at.git('log', '-1', '--format=%B')).toContain('signed off');
  });

  test('an ignored file, a locked index, and nobody who commits', async () => {
    at.write({ '.gitignore': 'ignored\n', ignored: 'x', 'a.txt': 'two\n', '.git/index.lock': '' });
    expect(await at.failure('git_commit', { message: 'm', paths: ['a.txt'] })).toMatch(/Another git command is at work, or one was killed: .*index\.lock exists/);
    expect(await at.text('git_status')).toContain('modified: a.txt');
    rmSync(join(at.cwd, '.git', 'index.lock'));
    expect(await at.failure('git_commit', { message: 'm', paths: ['ignored'] })).toContain('.gitignore excludes: ignored');
    await using nobody = await site({ env: { GIT_AUTHOR_NAME: '', GIT_AUTHOR_EMAIL: '', GIT_COMMITTER_NAME: '', GIT_COMMITTER_EMAIL: '' } });
    nobody.write({ x: '' });
    expect(await nobody.failure('git_commit', { message: 'm', paths: ['x'] })).toContain('git does not know who commits');
  });

  test('a merge: not before its conflicts are resolved, then as a whole', async () => {
    conflict();
    expect(() => at.git('merge', 'side')).toThrow();
    expect(await at.failure('git_commit', { message: 'm' })).toContain('There are conflicts:\n  a.txt');
    at.write({ 'a.txt': 'both\n', 'b.txt': 'b\n' });
    expect(await at.failure('git_commit', { message: 'm', paths: ['b.txt'] })).toContain('There are conflicts:\n  a.txt');
    expect(await at.preview('git_commit', { message: 'merged', paths: ['a.txt'] })).toMatch(/a merge is in progress[^]*All else that is staged is committed with it/);
    await at.run('git_commit', { message: 'merged', paths: ['a.txt'] });
    expect(at.git('log', '-1', '--format=%P').trim().split(' ')).toHaveLength(2);
    expect(at.git('show', 'HEAD:a.txt')).toBe('both\n');
  });

  test('a repository within is not committed by accident', async () => {
    at.git('init', '-q', 'nested');
    at.git('-C', 'nested', 'commit', '-q', '--allow-empty', '-m', 'x');
    at.write({ 'b.txt': 'b' });
    expect(await at.failure('git_commit', { message: 'm', paths: ['.'] })).toContain('nested/ is a repository of its own');
    rmSync(join(at.cwd, 'nested'), { recursive: true });
    expect(await at.text('git_commit', { message: 'm', paths: ['.'] })).toContain('  b.txt  +1 -0\n1 file');
  });

  test('a hook that fails after the commit does not make it undone', async () => {
    hook('reference-transaction', '[ "$1" = committed ] && kill -9 $PPID; exit 0');
    at.write({ 'a.txt': 'two\n' });
    expect(await at.failure('git_commit', { message: 'm', paths: ['a.txt'] })).toMatch(/^It was committed as [0-9a-f]{10}, but then: git commit: .*killed by SIGKILL/);
  });

  test('a NUL is no part of anything', async () => {
    for (const [tool, input] of [['git_log', { author: 'a\0b' }], ['git_diff', { from: 'a\0b' }], ['git_branch', { action: 'create', name: 'a\0b' }]] as const) expect(await at.failure(tool, input)).toContain('NUL character');
    at.write({ 'a.txt': 'two\n' });
    expect(await at.failure('git_commit', { message: 'a\0b', paths: ['a.txt'] })).toContain('Nothing was committed');
  });

  test('a step of a rebase, which is then still in progress', async () => {
    conflict();
    at.git('switch', '-q', 'side');
    expect(() => at.git('rebase', 'main')).toThrow();
    at.write({ 'a.txt': 'both\n' });
    expect(await at.text('git_commit', { message: 'resolved', paths: ['a.txt'] })).toMatch(/^Committed [0-9a-f]+ on no branch[^]*\(A rebase is still in progress\.\)$/);
    at.git('rebase', '--continue');
    expect(at.git('log', '--format=%s', 'side')).toBe('resolved\nmain\nfirst\n');
  });

  test('no editor, pager or question waits for anybody', async () => {
    for (const key of ['core.editor', 'sequence.editor', 'core.pager']) at.git('config', key, 'sleep 100');
    at.git('config', 'commit.verbose', 'true');
    at.write({ 'a.txt': 'two\n' });
    await at.run('git_commit', { message: 'm', paths: ['a.txt'] });
    expect(at.git('log', '-1', '--format=%B').trim()).toBe('m');
  });
});

describe('git_branch', () => {
  test('create, with and without switching, from anywhere', async () => {
    expect(await at.text('git_branch', { action: 'create', name: 'feature/x' })).toBe('Created the branch feature/x, and switched to it.');
    expect(branch()).toBe('feature/x');
    await at.run('git_branch', { action: 'create', name: '日本', switch: false, from: 'main' });
    expect(branch()).toBe('feature/x');
    expect(await at.failure('git_branch', { action: 'create', name: '日本' })).toContain('There is a branch 日本 already');
    expect(await at.failure('git_branch', { action: 'create', name: 'y', from: 'nowhere' })).toContain('no commit "nowhere"');
    at.git('update-ref', 'refs/remotes/origin/theirs', 'HEAD');
    at.git('config', 'remote.origin.url', '.git');
    at.git('config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
    expect(await at.text('git_branch', { action: 'create', name: 'theirs', from: 'origin/theirs' })).toContain('which follows origin/theirs');
    expect(at.git('rev-parse', '--abbrev-ref', 'theirs@{upstream}').trim()).toBe('origin/theirs');
  });

  test('before the first commit', async () => {
    await using empty = await site();
    await empty.run('git_branch', { action: 'create', name: 'other' });
    expect(empty.git('branch', '--show-current').trim()).toBe('other');
    at.git('switch', '-q', '--orphan', 'orphan');
    await at.run('git_branch', { action: 'switch', name: 'main' });
    expect(branch()).toBe('main');
  });

  test.each(['-D', '--force', 'HEAD', '@', '@{-1}', 'a..b', 'a b', 'x.lock', 'refs/heads/x', 'a\nb', '', '~1'])('%j is no name', async (name) => {
    for (const action of ['create', 'switch', 'delete']) await expect(at.run('git_branch', { action, name })).rejects.toThrow(name === '' ? /too_small|Too small/ : 'is not the name of a branch');
    expect(at.git('branch', '--format=%(refname:short)')).toBe('main\n');
  });

  test('switch takes changes along, and never over others', async () => {
    conflict();
    at.write({ 'b.txt': 'b' });
    expect(await at.text('git_branch', { action: 'switch', name: 'side' })).toBe('Switched to the branch side. 1 uncommitted change came along.');
    at.write({ 'a.txt': 'mine\n' });
    expect(await at.failure('git_branch', { action: 'switch', name: 'main' })).toBe('These changes are in the way, and would be lost:\n  a.txt\nNothing was changed. Commit them with git_commit, or put them aside with git_stash, first.');
    expect(read('a.txt')).toBe('mine\n');
    expect(await at.failure('git_branch', { action: 'switch', name: 'nowhere' })).toContain('There is no branch nowhere');
    // A file of the name of a branch is not what was meant.
    at.git('tag', 'just-a-tag');
    expect(await at.failure('git_branch', { action: 'switch', name: 'just-a-tag' })).toContain('There is no branch');
  });

  test('what would change an .agent folder, or lie outside, needs more than this', async () => {
    at.git('switch', '-q', '-c', 'side');
    at.write({ '.agent/config.yaml': 'model: x\n' });
    at.commit('side');
    at.git('switch', '-q', 'main');
    const asked: string[] = [];
    const { call } = at.workspace;
    at.workspace.call = (signal) => ({ ...call(signal), resolve: (path, access) => (access === 'write' ? (asked.push(path), Promise.reject(Object.assign(new Error('not approved'), { name: 'OperationalError' }))) : call().resolve(path, access)) });
    Object.assign(at.workspace, { run: async (tool: { input: { parse(input: object): never }; run(input: never, call: unknown): unknown }, input: object) => tool.run(tool.input.parse(input), at.workspace.call()) });
    expect(await at.failure('git_branch', { action: 'switch', name: 'side' })).toBe('not approved');
    expect(await at.failure('git_branch', { action: 'create', name: 'new', from: 'side' })).toBe('not approved');
    expect(asked).toEqual([join(at.cwd, '.agent/config.yaml'), join(at.cwd, '.agent/config.yaml')]);
    expect(branch()).toBe('main');
  });

  test('delete: not what is only there, not what is protected, not what is checked out', async () => {
    conflict();
    expect(await at.failure('git_branch', { action: 'delete', name: 'side' })).toMatch(/has commits that are on no other branch or tag:\n {2}[0-9a-f]+ \S+ Ada: side\nNothing was changed\. "force"/);
    expect(await at.preview('git_branch', { action: 'delete', name: 'side', force: true })).toMatch(/^git branch -D side\nCommits that are on no other branch or tag, and would be lost:\n {2}[0-9a-f]+/);
    const id = at.git('rev-parse', 'side').trim();
    expect(await at.text('git_branch', { action: 'delete', name: 'side', force: true })).toBe(`Deleted the branch side, which was at ${id.slice(0, 10)}: git_branch create with "from" ${id.slice(0, 10)} brings it back.`);
    await at.run('git_branch', { action: 'create', name: 'side', from: id.slice(0, 10) });
    expect(at.git('rev-parse', 'side').trim()).toBe(id);
    expect(await at.failure('git_branch', { action: 'delete', name: 'main', force: true })).toContain('The branch main is protected');
    expect(await at.failure('git_branch', { action: 'delete', name: 'side', force: true })).toContain('The branch side is checked out');
    at.git('branch', 'merged', 'side');
    await at.run('git_branch', { action: 'delete', name: 'merged' });
    await using strict = await site({ config: { protect: ['release/*'] } });
    strict.commit('first');
    strict.git('branch', 'release/1');
    strict.git('branch', 'releases');
    expect(await strict.failure('git_branch', { action: 'delete', name: 'release/1', force: true })).toContain('protected');
    await strict.run('git_branch', { action: 'delete', name: 'releases' });
  });
});

describe('git_stash', () => {
  test('push, list, pop', async () => {
    at.write({ 'a.txt': 'two\n', 'b.txt': 'b\n' });
    expect(await at.preview('git_stash', { action: 'push' })).toBe('Put aside:\n  a.txt');
    expect(await at.text('git_stash', { action: 'push', message: 'for later\n-u', untracked: true })).toBe('Put 2 changed files aside as stash 0:\n  a.txt\n  b.txt');
    expect(read('a.txt')).toBe('one\n');
    expect(existsSync(join(at.cwd, 'b.txt'))).toBe(false);
    expect(await at.text('git_list', { what: 'stashes' })).toMatch(/^0: \d{4}-\d\d-\d\d \d\d:\d\d On main: for later -u \([0-9a-f]{10}\)$/);
    expect(await at.text('git_status')).toContain('1 stash; git_list shows it.');
    expect(await at.preview('git_stash', { action: 'pop' })).toBe('Bring back stash 0 (On main: for later -u):\n  a.txt\n  b.txt');
    await at.run('git_stash', { action: 'pop' });
    expect([read('a.txt'), read('b.txt')]).toEqual(['two\n', 'b\n']);
  });

  test('only some paths', async () => {
    at.write({ 'a.txt': 'two\n', 'b.txt': 'b\n' });
    at.git('add', 'b.txt');
    await at.run('git_stash', { action: 'push', paths: ['a.txt'] });
    expect(at.git('status', '--porcelain')).toBe('A  b.txt\n');
  });

  test('drop says how to bring it back', async () => {
    for (const text of ['two\n', 'three\n']) {
      at.write({ 'a.txt': text });
      at.git('stash', 'push', '-qm', text.trim());
    }
    const said = await at.text('git_stash', { action: 'drop', index: 1 });
    expect(said).toMatch(/^Dropped stash 1 \(On main: two\)\. `git stash store [0-9a-f]{40}`/);
    expect(await at.text('git_list', { what: 'stashes' })).toMatch(/^0: .*On main: three/);
    at.git(...(/`git ([^`]*)`/.exec(said)?.[1] ?? '').split(' '));
    expect((await at.text('git_list', { what: 'stashes' })).split('\n')).toHaveLength(2);
  });

  test('a conflict keeps it', async () => {
    at.write({ 'a.txt': 'two\n' });
    await at.run('git_stash', { action: 'push' });
    at.write({ 'a.txt': 'three\n' });
    at.commit('three');
    expect(await at.failure('git_stash', { action: 'pop' })).toBe('Stash 0 was brought back with conflicts, and is kept:\n  a.txt\nResolve them, then drop the stash.');
    expect(await at.failure('git_stash', { action: 'push' })).toContain('There are conflicts');
    at.git('reset', '-q', '--hard');
    at.write({ 'a.txt': 'four\n' });
    expect(await at.failure('git_stash', { action: 'pop' })).toContain('would be lost:\n  a.txt');
  });

  test('nothing to put aside, and no such stash', async () => {
    expect(await at.failure('git_stash', { action: 'push' })).toContain('There are no changes to put aside.');
    expect(await at.failure('git_stash', { action: 'pop' })).toContain('There are no stashes');
    at.write({ 'a.txt': 'two\n' });
    await at.run('git_stash', { action: 'push' });
    expect(await at.failure('git_stash', { action: 'drop', index: 3 })).toContain('There is no stash 3: there is 1 stash, from 0');
    await using empty = await site();
    expect(await empty.failure('git_stash', { action: 'push' })).toContain('There is no commit yet');
  });
});
