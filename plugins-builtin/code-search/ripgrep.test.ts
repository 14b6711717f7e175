import { chmod, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { findRipgrep } from './ripgrep.ts';
import { plant } from './tree.testing.ts';

test('takes the first executable rg, but none that the workspace brings', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'repo/bin/rg': '', 'plain/rg': '', 'good/rg': '' });
  const at = (folder: string): string => join(workspace.cwd, folder);
  await chmod(at('repo/bin/rg'), 0o755);
  await chmod(at('good/rg'), 0o755);
  await symlink('repo/bin', at('link'));
  const path = ['bin', '', at('repo/bin'), at('missing'), at('plain'), at('link'), at('good')].join(':');
  expect(await findRipgrep(path, at('repo'))).toBe(at('good/rg'));
  expect(await findRipgrep(path, workspace.cwd)).toBeUndefined();
});

test('on Windows it is rg.exe', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a/rg': '', 'b/rg.exe': '' });
  const at = (path: string): string => join(workspace.cwd, path);
  for (const program of ['a/rg', 'b/rg.exe']) await chmod(at(program), 0o755);
  expect(await findRipgrep([at('a'), at('b')].join(delimiter), at('repo'), 'win32')).toBe(at('b/rg.exe'));
});

test('a folder whose name only begins like the workspace is outside of it', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'repo/x': '', 'repo2/rg': '', '..bin/rg': '' });
  for (const folder of ['repo2', '..bin']) await chmod(join(workspace.cwd, folder, 'rg'), 0o755);
  expect(await findRipgrep(join(workspace.cwd, 'repo2'), join(workspace.cwd, 'repo'))).toBe(join(workspace.cwd, 'repo2/rg'));
  expect(await findRipgrep(join(workspace.cwd, '..bin'), workspace.cwd)).toBeUndefined();
});
