import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
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
