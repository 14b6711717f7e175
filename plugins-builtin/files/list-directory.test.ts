import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { listDirectory } from './list-directory.ts';

test('lists folders first, then files with sizes, links with targets and special files', async () => {
  await using workspace = await temporaryWorkspace();
  await mkdir(join(workspace.cwd, 'z-folder'));
  await writeFile(join(workspace.cwd, 'b.txt'), 'x'.repeat(1234));
  await writeFile(join(workspace.cwd, '.hidden'), '');
  await writeFile(join(workspace.cwd, 'new\nline'), '');
  await symlink('z-folder', join(workspace.cwd, 'link'));
  execFileSync('mkfifo', [join(workspace.cwd, 'pipe')]);
  expect((await workspace.run(listDirectory, {})).text.split('\n')).toEqual([
    'z-folder/',
    '.hidden  0 bytes',
    'b.txt  1.2 kB',
    'link -> z-folder',
    '"new\\nline"  0 bytes',
    'pipe  (named pipe)',
  ]);
});

test('says that a directory is empty, and how many entries are left out', async () => {
  await using workspace = await temporaryWorkspace();
  await mkdir(join(workspace.cwd, 'empty'));
  await mkdir(join(workspace.cwd, 'full'));
  for (let index = 0; index < 512; index += 1) await writeFile(join(workspace.cwd, 'full', `${index}`), '');
  expect((await workspace.run(listDirectory, { path: 'empty' })).text).toBe('(empty directory)');
  const lines = (await workspace.run(listDirectory, { path: 'full' })).text.split('\n');
  expect(lines).toHaveLength(501);
  expect(lines.at(-1)).toBe('(… 12 more of 512 entries; use glob with a pattern to see others)');
});

test('a file and a missing folder are observations', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), '');
  expect(await workspace.run(listDirectory, { path: 'a.txt' })).toEqual({ isError: true, text: 'a.txt is not a directory. Use read_file to see a file.' });
  expect((await workspace.run(listDirectory, { path: 'none' })).text).toMatch(/^none does not exist\./);
});
