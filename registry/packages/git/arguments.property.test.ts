/** Whatever a model writes as a name, a path or a text: it is never an option of git, and never a fault. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { site, type Site } from './repositories.testing.ts';

/** Everything that lies in the workspace, but the object store and logs, which reading does not change either. */
function digest(at: Site): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(at.cwd, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).sort((a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1))) {
    const file = join(entry.parentPath, entry.name);
    hash.update(file).update(readFileSync(file));
  }
  return hash.digest('hex');
}

const evil = fc.oneof(
  fc.constantFrom('--output=evil', '-oevil', '--ext-diff', '--textconv', '--upload-pack=touch evil', '--exec=touch evil', '-O/dev/null', '--no-index', '-', '--', '--all', '@', '@{u}', ':/x', ':(top)', ':!a', '^main', 'HEAD^{/x}', 'main..', '...', 'HEAD:', '\n--output=evil', '$(touch evil)', '; touch evil', '`touch evil`', '%x00', '../..', '/', '.git/config', '.git', '~', '*', '\ud800', 'a\0b', 'main@{1 day ago}', '-1', '--help', '--git-dir=/', '-c', '-C'),
  fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }),
);

const reads = fc.oneof(
  fc.record({ tool: fc.constant('git_status'), input: fc.record({ paths: fc.array(evil, { minLength: 1, maxLength: 2 }) }) }),
  fc.record({ tool: fc.constant('git_diff'), input: fc.record({ from: evil, to: evil, paths: fc.array(evil, { minLength: 1, maxLength: 2 }) }, { requiredKeys: ['from'] }) }),
  fc.record({ tool: fc.constant('git_log'), input: fc.record({ ref: evil, author: evil, message: evil, since: evil, until: evil, changed_text: evil, paths: fc.array(evil, { minLength: 1, maxLength: 2 }) }, { requiredKeys: [] }) }),
  fc.record({ tool: fc.constant('git_show'), input: fc.record({ ref: evil, file: evil, paths: fc.array(evil, { minLength: 1, maxLength: 1 }) }, { requiredKeys: [] }) }),
  fc.record({ tool: fc.constant('git_blame'), input: fc.record({ file: evil, ref: evil }, { requiredKeys: ['file'] }) }),
  fc.record({ tool: fc.constantFrom('git_status', 'git_log', 'git_list'), input: fc.record({ repository: evil }) }),
);

const expected = (error: Error): void => expect(['OperationalError', 'ZodError', '$ZodError']).toContain(error.name);

test('reading changes nothing, whatever it is asked for', { timeout: 120_000 }, async () => {
  await using at = await site();
  at.write({ 'a.txt': 'one\n', main: 'a file of the name of a branch\n' });
  at.commit('first');
  at.write({ 'a.txt': 'two\n' });
  const before = digest(at);
  await fc.assert(
    fc.asyncProperty(reads, async ({ tool, input }) => {
      await at.run(tool, input).catch(expected);
      expect(digest(at)).toBe(before);
    }),
    { numRuns: 80 },
  );
});

test('names of branches, messages and paths of what changes are only that', { timeout: 120_000 }, async () => {
  await using at = await site();
  at.write({ 'a.txt': 'one\n' });
  at.commit('first');
  await fc.assert(
    fc.asyncProperty(evil, evil, async (name, from) => {
      at.write({ 'a.txt': `${name}${from}` });
      await at.run('git_branch', { action: 'create', name, from, switch: false }).catch(expected);
      await at.run('git_branch', { action: 'create', name, switch: false }).catch(expected);
      await at.run('git_branch', { action: 'delete', name }).catch(expected);
      await at.run('git_commit', { message: name, paths: ['a.txt'] }).catch(expected);
      await at.run('git_stash', { action: 'push', message: name, paths: [from] }).catch(expected);
      expect(existsSync(join(at.cwd, 'evil'))).toBe(false);
      expect(at.git('branch', '--format=%(refname:short)')).toBe('main\n');
    }),
    { numRuns: 25 },
  );
});
