import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { site, type Site } from './repositories.testing.ts';

let at: Site;
beforeEach(async () => void (at = await site()));
afterEach(() => at[Symbol.asyncDispose]());

test('what is not staged, what is, and both', async () => {
  at.write({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
  at.commit('first');
  at.write({ 'a.txt': 'two\n', 'b.txt': 'two\n', 'new.txt': '' });
  at.git('add', 'b.txt');
  const unstaged = await at.text('git_diff');
  expect(unstaged).toContain('--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two');
  expect(unstaged).not.toContain('b/b.txt');
  expect(unstaged).toContain('(Untracked, and so in no diff: new.txt)');
  expect(await at.text('git_diff', { staged: true })).toContain('+++ b/b.txt');
  expect(await at.text('git_diff', { from: 'HEAD', stat: true })).toBe('  a.txt  +1 -1\n  b.txt  +1 -1\n2 files, +2 -2');
  expect(await at.text('git_diff', { from: 'HEAD', paths: ['b.txt'], stat: true })).toBe('  b.txt  +1 -1\n1 file, +1 -1');
});

test('nothing, and where there is something', async () => {
  at.write({ 'a.txt': 'one\n' });
  at.git('add', 'a.txt');
  expect(await at.text('git_diff')).toBe('No changes that are not staged. 1 file is staged: "staged" shows what.');
  expect(await at.text('git_diff', { staged: true })).toContain('+one');
  at.commit('first');
  expect(await at.text('git_diff')).toBe('No changes that are not staged.');
  expect(await at.text('git_diff', { staged: true })).toBe('No changes are staged.');
  expect(await at.text('git_diff', { from: 'HEAD', paths: ['a.txt'] })).toBe('No changes in a.txt.');
});

test('between commits, and since a branch left', async () => {
  at.write({ 'a.txt': 'one\n' });
  at.commit('first');
  at.git('switch', '-q', '-c', 'side');
  at.write({ 'side.txt': 'side\n' });
  at.commit('side');
  at.git('switch', '-q', 'main');
  at.write({ 'main.txt': 'main\n' });
  at.commit('main');
  expect(await at.text('git_diff', { from: 'main', to: 'side', stat: true })).toContain('main.txt');
  expect(await at.text('git_diff', { from: 'main', to: 'side', merge_base: true, stat: true })).toBe('  side.txt  +1 -0\n1 file, +1 -0');
  at.git('switch', '-q', '--orphan', 'alone');
  at.commit('alone');
  expect(await at.failure('git_diff', { from: 'main', to: 'alone', merge_base: true })).toContain('no commit in common');
});

test('a rename, a binary file, a symbolic link', async () => {
  at.write({ 'a.txt': 'line\n'.repeat(20), 'b.bin': Buffer.from([0, 1, 2]) });
  symlinkSync('/etc/passwd', join(at.cwd, 'link'));
  at.commit('first');
  at.git('mv', 'a.txt', 'c.txt');
  at.write({ 'b.bin': Buffer.from([0, 3]) });
  rmSync(join(at.cwd, 'link'));
  symlinkSync('/etc/group', join(at.cwd, 'link'));
  const text = await at.text('git_diff', { from: 'HEAD' });
  expect(text).toContain('rename from a.txt\nrename to c.txt');
  expect(text).toContain('Binary files a/b.bin and b/b.bin differ');
  expect(text).toContain('+/etc/group\n');
  expect(await at.text('git_diff', { from: 'HEAD', stat: true })).toContain('  b.bin  binary\n  a.txt → c.txt  +0 -0\n');
  // The link itself is what git knows.
  expect(await at.text('git_diff', { from: 'HEAD', paths: ['link'], stat: true })).toContain('link  +1 -1');
});

test('a large one begins with its statistics, and shows both ends', async () => {
  at.write({ 'big.txt': Array.from({ length: 5_000 }, (_, index) => `line ${index}\n`).join(''), 'small.txt': 'x\n' });
  at.git('add', '.');
  const text = await at.text('git_diff', { staged: true });
  expect(text).toMatch(/^ {2}big\.txt {2}\+5000 -0\n {2}small\.txt {2}\+1 -0\n2 files, \+5001 -0\n\ndiff --git a\/big\.txt/);
  expect(text).toMatch(/\n… \d+ lines \(\d+ characters\) are left out here\. To see them, ask for single files with "paths" …\n/);
  expect(text.endsWith('+x')).toBe(true);
  expect(text.length).toBeLessThan(26_000);
  expect(await at.text('git_diff', { staged: true, paths: ['big.txt'] })).toContain('read_file shows the file itself');
});

test('one that no program may write shows its statistics', async () => {
  at.write({ 'huge.txt': Buffer.alloc(51_000_000, 'x'.repeat(99) + '\n') });
  at.git('add', '.');
  expect(await at.text('git_diff', { staged: true })).toBe('  huge.txt  +510000 -0\n1 file, +510000 -0\nThe diff is too large to be read as a whole. Ask for single files with "paths".');
});

test.each([
  [{ to: 'main' }, '"to" alone compares with nothing'],
  [{ staged: true, from: 'main', to: 'main' }, 'leave out "to"'],
  [{ merge_base: true }, 'give it as "from"'],
  [{ from: '--output=/tmp/x' }, 'do not begin with a dash'],
  [{ from: 'nowhere' }, 'There is no commit "nowhere"'],
  [{ from: 'HEAD:a.txt' }, 'names a file'],
  [{ paths: ['../outside'] }, 'outside the workspace'],
])('%j is refused', async (input, message) => {
  at.commit('first');
  expect(await at.failure('git_diff', input)).toContain(message);
});

test('settings of the person change nothing of how it reads', async () => {
  for (const [key, value] of Object.entries({ 'diff.noprefix': 'true', 'diff.mnemonicPrefix': 'true', 'color.ui': 'always', 'color.diff': 'always', 'diff.context': '0', 'diff.colorMoved': 'zebra', 'core.quotePath': 'true', 'diff.renames': 'false', 'diff.relative': 'true', 'diff.wordRegex': '.', 'diff.orderFile': '/nowhere', 'format.pretty': '%H nothing else', 'log.date': 'relative', 'log.decorate': 'full', 'log.follow': 'true', 'status.short': 'true', 'status.renames': 'false', 'status.showUntrackedFiles': 'no', 'i18n.logOutputEncoding': 'ISO-8859-1', 'core.abbrev': '40', 'column.ui': 'always', 'blame.date': 'relative', 'log.showRoot': 'false' })) at.git('config', key, value);
  at.git('config', '--unset', 'diff.orderFile');
  at.write({ 'é.txt': 'one\ntwo\nthree\n' });
  at.commit('ünï');
  at.write({ 'é.txt': 'one\nTWO\nthree\n', new: '' });
  expect(await at.text('git_diff')).toContain('--- a/é.txt\n+++ b/é.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n(Untracked, and so in no diff: new)');
  expect(await at.text('git_status')).toContain('Untracked (1):\n  new');
  expect(await at.text('git_log')).toMatch(/ \d{4}-\d\d-\d\d Ada \(HEAD -> main\): ünï$/);
  expect(await at.text('git_show')).toContain('+three');
  expect(await at.text('git_blame', { file: 'é.txt', end: 1 })).toMatch(/^[0-9a-f]{10} \d{4}-\d\d-\d\d Ada: ünï\n {5}1 {2}one$/);
  at.git('stash');
  expect(await at.text('git_list', { what: 'stashes' })).toMatch(/^0: \d{4}-\d\d-\d\d \d\d:\d\d WIP on main/);
});
