import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseBlame } from './blame.ts';
import { parseCommits } from './log.ts';
import { withoutPassword } from './list.ts';
import { site, type Site } from './repositories.testing.ts';

let at: Site;
beforeEach(async () => {
  at = await site();
  at.write({ 'a.txt': 'one\ntwo\n', 'b/日本.txt': 'x\n' });
  at.commit('first: "quoted" | piped');
  at.write({ 'a.txt': 'one\nTWO\nthree\n' });
  at.git('commit', '-qam', 'second\n\nWith a body.\n\n# and a hash', '--author=Grace Hopper <grace@example.org>', '--date=2020-02-03T04:05:06+0100');
  at.git('tag', '-a', 'v1', '-m', 'the first release');
});
afterEach(() => at[Symbol.asyncDispose]());

const subjects = async (input: object): Promise<string[]> => ((await at.run('git_log', input)).data as { subject: string }[]).map(({ subject }) => subject);

describe('git_log', () => {
  test('one line a commit, and the same as data', async () => {
    const { text, data } = await at.run('git_log');
    expect(text).toMatch(/^[0-9a-f]{7,} 2020-02-03 Grace Hopper \(HEAD -> main, tag: v1\): second\n[0-9a-f]{7,} \d{4}-\d\d-\d\d Ada: first: "quoted" \| piped$/);
    expect(data).toMatchObject([{ author: 'Grace Hopper', email: 'grace@example.org', date: '2020-02-03T04:05:06+01:00', parents: [expect.stringMatching(/^[0-9a-f]{40}$/)] }, { parents: [] }]);
  });

  test.each([
    [{ author: 'grace' }, ['second']],
    [{ author: 'ada@example' }, ['first: "quoted" | piped']],
    [{ author: '.*' }, []],
    [{ message: 'with a BODY' }, ['second']],
    [{ paths: ['b'] }, ['first: "quoted" | piped']],
    [{ paths: ['b/日本.txt'] }, ['first: "quoted" | piped']],
    [{ changed_text: 'TWO' }, ['second']],
    [{ changed_text: '--output=x' }, []],
    [{ author: '--all' }, []],
    [{ since: '2098-01-01' }, []],
    [{ ref: 'v1~1' }, ['first: "quoted" | piped']],
    [{ ref: 'v1~1..' }, ['second']],
    [{ ref: 'v1~1..main' }, ['second']],
    [{ ref: '..v1' }, []],
    [{ ref: 'v1~1...v1' }, ['second']],
  ])('%j', async (input, expected) => {
    expect(await subjects(input)).toEqual(expected);
  });

  test('says that there are more, and how to go on', async () => {
    expect(await at.text('git_log', { max: 1 })).toContain('(There are more: raise max, or go on with skip 1.)');
    expect(await subjects({ max: 1, skip: 1 })).toEqual(['first: "quoted" | piped']);
    expect(await at.text('git_log', { skip: 7 })).toBe('No further commits after the first 7.');
  });

  test.each(['--output=x', '-1', 'nowhere', 'main..nowhere', 'main..--all', '..-p'])('%s is refused', async (ref) => {
    expect(await at.failure('git_log', { ref })).toMatch(/do not begin with a dash|There is no commit "nowhere": git_list/);
  });

  test('before the first commit', async () => {
    await using empty = await site();
    expect(await empty.text('git_log')).toBe('There is no commit yet.');
    expect(await empty.failure('git_log', { ref: 'main' })).toBe('There is no commit "main": there is no commit yet.');
    expect(await empty.failure('git_show')).toContain('there is no commit yet');
  });

  test('a subject with any character is one field', () => {
    const fields = ['a'.repeat(40), 'aaaaaaa', 'N', 'n@x', '2020-01-01T00:00:00Z', '', '', 'x | y\ttab'];
    expect(parseCommits(`${[...fields, ...fields].join('\0')}\0`)).toHaveLength(2);
    expect(parseCommits('')).toEqual([]);
  });
});

describe('git_show', () => {
  test('a commit', async () => {
    const text = await at.text('git_show');
    expect(text).toMatch(/^commit [0-9a-f]{40} \(HEAD -> main, tag: v1\)\nAuthor: Grace Hopper <grace@example\.org>, 2020-02-03T04:05:06\+01:00\nCommitter: Ada <ada@example\.org>\n\n {4}second\n\n {4}With a body\.\n\n {4}# and a hash\n\ndiff --git a\/a\.txt b\/a\.txt/);
    expect(text).toContain('+three');
    expect(await at.text('git_show', { stat: true, ref: 'HEAD~1' })).toContain('  b/日本.txt  +1 -0\n2 files, +3 -0');
    expect(await at.text('git_show', { paths: ['b'] })).toContain('(no changes here)');
  });

  test('a tag says what it is', async () => {
    expect(await at.text('git_show', { ref: 'v1' })).toMatch(/^tag v1 by Ada <ada@example\.org>\n\n {4}the first release\n\ncommit /);
  });

  test('a merge is what it brought', async () => {
    at.git('switch', '-q', '-c', 'side', 'HEAD~1');
    at.write({ 'side.txt': 'side\n' });
    at.commit('side');
    at.git('switch', '-q', 'main');
    at.git('merge', '-q', '--no-ff', '-m', 'merged', 'side');
    const text = await at.text('git_show', { stat: true });
    expect(text).toMatch(/Merge of [0-9a-f]{10} and [0-9a-f]{10}; the changes are those against the first/);
    expect(text).toContain('  side.txt  +1 -0\n1 file');
    expect(await at.text('git_log', { max: 1 })).toContain('[merge]');
  });

  test('a file as it was, a folder, and what is none', async () => {
    expect(await at.text('git_show', { ref: 'HEAD~1', file: 'a.txt' })).toBe('one\ntwo\n');
    expect(await at.text('git_show', { file: 'b' })).toBe('b/日本.txt');
    expect(await at.text('git_show', { file: '.' })).toBe('a.txt\nb/');
    expect(await at.failure('git_show', { file: 'c.txt', ref: 'v1' })).toContain('There is no c.txt in v1');
    at.write({ bin: Buffer.from([0, 1]), empty: '', 'large.txt': 'x'.repeat(5_000_001) });
    symlinkSync('a.txt', join(at.cwd, 'link'));
    at.commit('third');
    expect(await at.text('git_show', { file: 'bin' })).toBe('bin is a binary file of 2 bytes in HEAD.');
    expect(await at.text('git_show', { file: 'empty' })).toBe('empty is empty in HEAD.');
    expect(await at.text('git_show', { file: 'link' })).toBe('link is a symbolic link to a.txt in HEAD.');
    expect(await at.failure('git_show', { file: 'large.txt' })).toContain('large.txt has 5000001 bytes');
  });
});

describe('git_blame', () => {
  test('says of each line whose it is', async () => {
    at.write({ 'a.txt': 'one\nTWO\nthree\nfour\n' });
    const text = await at.text('git_blame', { file: 'a.txt' });
    expect(text).toMatch(/^[0-9a-f]{10} \d{4}-\d\d-\d\d Ada: first: "quoted" \| piped\n {5}1 {2}one\n[0-9a-f]{10} 2020-02-03 Grace Hopper: second\n {5}2 {2}TWO\n {5}3 {2}three\nnot committed yet\n {5}4 {2}four$/);
    expect(await at.text('git_blame', { file: 'a.txt', start: 2, end: 2, ref: 'HEAD~1' })).toMatch(/Ada.*\n {5}2 {2}two$/);
  });

  test.each([
    [{ file: 'a.txt', start: 9 }, 'a.txt has only 3 lines'],
    [{ file: 'a.txt', start: 3, end: 2 }, '"end" (2) is before "start" (3)'],
    [{ file: 'nowhere' }, 'nowhere is not in the last commit'],
    [{ file: 'a.txt', ref: '-x' }, 'do not begin with a dash'],
    [{ file: '../../x' }, 'outside the workspace'],
  ])('%j', async (input, message) => {
    expect(await at.failure('git_blame', input)).toContain(message);
  });

  test('a long file in pieces', async () => {
    at.write({ 'long.txt': 'x\n'.repeat(700), 'empty.txt': '' });
    at.commit('long');
    expect(await at.text('git_blame', { file: 'long.txt' })).toContain('(There are more lines: go on with start 501.)');
    expect((await at.text('git_blame', { file: 'long.txt', start: 501 })).split('\n')).toHaveLength(201);
    expect(await at.text('git_blame', { file: 'empty.txt' })).toBe('empty.txt is empty.');
  });

  test('lines that look like its own format are lines', () => {
    const id = 'a'.repeat(40);
    const { lines, commits } = parseBlame(`${id} 1 1 2\nauthor N\nauthor-time 1\nsummary s\nfilename f\n\tauthor X\n${id} 2 2\n\t${id} 3 3\n`);
    expect(lines).toEqual([{ commit: id, line: 1, text: 'author X' }, { commit: id, line: 2, text: `${id} 3 3` }]);
    expect(commits.get(id)).toEqual({ author: 'N', time: 1, subject: 's' });
  });
});

describe('git_list', () => {
  test('branches, tags, remotes, worktrees', async () => {
    at.git('branch', 'feature/x');
    at.git('remote', 'add', 'origin', 'https://ada:secret@example.org/x.git');
    at.git('worktree', 'add', '-q', '.git/other place', 'feature/x');
    expect(await at.text('git_list')).toMatch(/^(\* main {2}[0-9a-f]+ \d{4}-\d\d-\d\d {2}second\n {2}feature\/x {2}.*|.*feature\/x.*\n\* main.*)$/);
    expect(await at.text('git_list', { what: 'tags' })).toMatch(/^v1 {2}[0-9a-f]+ \d{4}-\d\d-\d\d {2}the first release$/);
    expect(await at.text('git_list', { what: 'remotes' })).toBe('origin  https://example.org/x.git');
    expect(await at.text('git_list', { what: 'worktrees' })).toMatch(new RegExp(`^${at.cwd} {2}main [0-9a-f]{10}\n${at.cwd}/.git/other place {2}feature/x [0-9a-f]{10}$`));
    expect(await at.text('git_list', { what: 'stashes' })).toBe('There are no stashes.');
  });

  test('no password is shown', () => {
    expect(withoutPassword('https://token@host/x')).toBe('https://host/x');
    expect(withoutPassword('https://a:p%40@host/x')).toBe('https://host/x');
    expect(withoutPassword('git@host:x/y@z')).toBe('git@host:x/y@z');
  });
});
