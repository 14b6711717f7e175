import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { writeAtomically } from './atomic-write.ts';
import { writeFile as writeTool } from './write-file.ts';

test('creates a file and its folders', async () => {
  await using workspace = await temporaryWorkspace();
  const result = await workspace.run(writeTool, { path: 'a/b/c.txt', content: 'one\r\ntwo\n' });
  expect(result).toEqual({ text: 'Wrote 2 lines (9 bytes) to a/b/c.txt.' });
  expect(await readFile(join(workspace.cwd, 'a/b/c.txt'), 'utf8')).toBe('one\r\ntwo\n');
  expect(await readdir(join(workspace.cwd, 'a/b'))).toEqual(['c.txt']);
});

test('writes an empty file', async () => {
  await using workspace = await temporaryWorkspace();
  expect((await workspace.run(writeTool, { path: 'a', content: '' })).text).toBe('Wrote 0 lines (0 bytes) to a.');
});

test('keeps the mode, and writes through a link', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'run.sh');
  await writeFile(file, 'old');
  await chmod(file, 0o750);
  await symlink('run.sh', join(workspace.cwd, 'link'));
  await symlink('later.txt', join(workspace.cwd, 'dangling'));
  await workspace.run(writeTool, { path: 'link', content: 'new' });
  await workspace.run(writeTool, { path: 'dangling', content: 'fresh' });
  expect(await readFile(file, 'utf8')).toBe('new');
  expect((await stat(file)).mode & 0o777).toBe(0o750);
  expect(await readlink(join(workspace.cwd, 'link'))).toBe('run.sh');
  expect(await readFile(join(workspace.cwd, 'later.txt'), 'utf8')).toBe('fresh');
});

test.each([
  ['folder', 'folder is a directory. Use list_directory, or name a file in it. Nothing was written.'],
  ['file/x.txt', 'file/x.txt cannot exist: a parent of it is a file, not a directory. Nothing was written.'],
  ['file/deep/x.txt', 'file/deep/x.txt cannot exist: a parent of it is a file, not a directory. Nothing was written.'],
  ['pipe', 'pipe is a named pipe, not a file with content; these tools do not touch it. Nothing was written.'],
  ['../outside.txt', '../outside.txt is outside the workspace. Nothing was written.'],
])('refuses %s', async (path, text) => {
  await using workspace = await temporaryWorkspace();
  await mkdir(join(workspace.cwd, 'folder'));
  await writeFile(join(workspace.cwd, 'file'), 'x');
  execFileSync('mkfifo', [join(workspace.cwd, 'pipe')]);
  expect(await workspace.run(writeTool, { path, content: 'y' })).toEqual({ text, isError: true });
  expect((await readdir(workspace.cwd)).sort()).toEqual(['file', 'folder', 'pipe']);
});

test.skipIf(process.getuid?.() === 0)('respects a read-only file although its folder is writable', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a'), 'x', { mode: 0o444 });
  const result = await workspace.run(writeTool, { path: 'a', content: 'y' });
  expect(result.text).toBe('a cannot be accessed: permission denied. Nothing was written.');
});

test('a write that fails at the last step leaves no temporary file', async () => {
  await using workspace = await temporaryWorkspace();
  await mkdir(join(workspace.cwd, 'target/full'), { recursive: true });
  await expect(writeAtomically(join(workspace.cwd, 'target'), Buffer.from('x'))).rejects.toMatchObject({ syscall: 'rename' });
  expect(await readdir(workspace.cwd)).toEqual(['target']);
});

test('a full disk is told, and leaves the old file and no temporary one', async (context) => {
  await using workspace = await temporaryWorkspace();
  const script = `
    import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
    import { writeAtomically } from ${JSON.stringify(new URL('./atomic-write.ts', import.meta.url).href)};
    writeFileSync('${workspace.cwd}/a', 'old');
    const error = await writeAtomically('${workspace.cwd}/a', Buffer.alloc(1_000_000)).catch((reason) => reason);
    console.log(error.code, readFileSync('${workspace.cwd}/a', 'utf8'), readdirSync('${workspace.cwd}').join());`;
  const small = `mount -t tmpfs -o size=64k tmpfs '${workspace.cwd}'`;
  try {
    execFileSync('unshare', ['-rm', 'sh', '-c', small], { stdio: 'ignore' });
  } catch {
    context.skip('needs a user namespace for a small file system');
  }
  const output = execFileSync('unshare', ['-rm', 'sh', '-c', `${small} && exec "$0" --input-type=module -e "$1"`, process.execPath, script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  expect(output).toBe('ENOSPC old a\n');
});

test('previews a unified diff in which nothing is hidden', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), 'one\ntwo\nthree\n');
  expect(await workspace.preview(writeTool, { path: 'a.txt', content: 'one\n2\u202e\x1b[2J\r\nthree\n' })).toBe(
    ['--- a.txt', '+++ a.txt', '@@ -1,3 +1,3 @@', ' one', '-two', '+2<U+202E>␛[2J␍', ' three'].join('\n'),
  );
  expect(await workspace.preview(writeTool, { path: 'new.txt', content: 'x\n' })).toBe(['--- /dev/null', '+++ new.txt', '@@ -0,0 +1,1 @@', '+x'].join('\n'));
  const long = await workspace.preview(writeTool, { path: 'new.txt', content: 'x\n'.repeat(1000) });
  expect(long?.split('\n')).toHaveLength(201);
  expect(long).toMatch(/… 803 more lines$/);
  expect(await readdir(workspace.cwd)).toEqual(['a.txt']);
});
