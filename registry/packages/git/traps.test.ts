/** Commands that only read run nothing that the repository configures. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { site, type Site } from './repositories.testing.ts';
import { parseSettings } from './surroundings.ts';

let at: Site;
beforeEach(async () => {
  at = await site();
});
afterEach(() => at[Symbol.asyncDispose]());

const tripped = (): string[] => readdirSync(join(at.cwd, '.git', 'tripped')).sort();

/** A program that leaves its name behind, and answers what it reads. */
function trap(name: string, body = 'cat 2>/dev/null'): string {
  mkdirSync(join(at.cwd, '.git', 'tripped'), { recursive: true });
  mkdirSync(join(at.cwd, '.git', 'traps'), { recursive: true });
  const file = join(at.cwd, '.git', 'traps', name);
  writeFileSync(file, `#!/bin/sh\n: > '${at.cwd}/.git/tripped/${name}'\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** Puts the traps everywhere, after the files were committed. */
function setTraps(): void {
  for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout', 'pre-commit', 'fsmonitor-watchman']) writeFileSync(join(at.cwd, '.git', 'hooks', hook), `#!/bin/sh\nexec '${trap(`hook-${hook}`)}' < /dev/null\n`, { mode: 0o755 });
  const settings: Readonly<Record<string, string>> = {
    'core.fsmonitor': trap('fsmonitor', 'exit 1'),
    'core.pager': trap('pager'),
    'core.editor': trap('editor'),
    'sequence.editor': trap('sequence-editor'),
    'core.sshCommand': trap('ssh', 'exit 1'),
    'core.gitProxy': trap('proxy', 'exit 1'),
    'core.askPass': trap('askpass'),
    'core.alternateRefsCommand': trap('alternates'),
    'credential.helper': trap('credential', 'exit 1'),
    'diff.external': trap('diff-external', 'exit 0'),
    'diff.trap.command': trap('diff-command', 'exit 0'),
    'diff.trap.textconv': trap('textconv', 'cat "$1"'),
    'filter.trap.clean': trap('clean'),
    'filter.trap.smudge': trap('smudge'),
    'filter.trap.required': 'true',
    'filter.process.process': trap('process', 'exit 1'),
    'filter.a=b.clean': trap('clean-equals'),
    'merge.trap.driver': trap('merge-driver', 'exit 1'),
    'log.diffMerges': 'remerge',
    'log.showSignature': 'true',
    'gpg.program': trap('gpg', 'exit 1'),
    'gpg.ssh.program': trap('gpg-ssh', 'exit 1'),
    'interactive.diffFilter': trap('diff-filter'),
    'diff.submodule': 'log',
    'diff.ignoreSubmodules': 'none',
    'status.submoduleSummary': 'true',
    'submodule.recurse': 'true',
    'hook.index.command': trap('hook-configured'),
    'hook.index.event': 'post-index-change',
    'alias.status': `!${trap('alias')}`,
    'trailer.sign.cmd': trap('trailer'),
    'color.ui': 'always',
  };
  for (const [key, value] of Object.entries(settings)) at.git('config', key, value);
  for (const command of ['status', 'log', 'diff', 'show', 'blame', 'branch', 'stash']) at.git('config', `pager.${command}`, trap(`pager-${command}`));
}

/** Every file looks as if it had changed, so that git has to look into it. */
function touchAll(): void {
  for (const name of ['plain.txt', 'conv.trap', 'piped.process', 'equals.eq', 'merged.txt', 'module/in.txt']) utimesSync(join(at.cwd, name), new Date(1e12), new Date(1e12));
}

async function readEverything(): Promise<void> {
  for (const [tool, input] of [
    ['git_status', {}],
    ['git_status', { untracked: 'files' }],
    ['git_diff', {}],
    ['git_diff', { staged: true }],
    ['git_diff', { from: 'HEAD' }],
    ['git_diff', { from: 'HEAD~2', to: 'HEAD' }],
    ['git_log', {}],
    ['git_log', { paths: ['conv.trap'], changed_text: 'one' }],
    ['git_show', {}],
    ['git_show', { ref: 'merge' }],
    ['git_show', { ref: 'signed' }],
    ['git_show', { file: 'conv.trap' }],
    ['git_blame', { file: 'conv.trap' }],
    ['git_blame', { file: 'equals.eq' }],
    ['git_blame', { file: 'piped.process', ref: 'HEAD' }],
    ...['branches', 'tags', 'stashes', 'remotes', 'worktrees'].map((what) => ['git_list', { what }] as const),
  ] as const) {
    touchAll();
    await at.run(tool, input);
  }
  touchAll();
  expect(await at.prompt()).toContain('branch main');
  for (const [tool, input] of [
    ['git_commit', { message: 'x', paths: ['conv.trap'] }],
    ['git_branch', { action: 'delete', name: 'side' }],
    ['git_stash', { action: 'push' }],
  ] as const) {
    touchAll();
    await at.preview(tool, input);
  }
}

/** A history with a merge that had a conflict, a signature, a stash and a submodule. */
function build(): void {
  at.write({ '.gitattributes': '*.trap diff=trap filter=trap merge=trap\n*.process filter=process\n*.eq filter=a=b\nmerged.txt merge=trap\n', 'plain.txt': 'one\n', 'conv.trap': 'one\n', 'piped.process': 'one\n', 'equals.eq': 'one\n', 'merged.txt': 'one\n' });
  at.commit('first');
  at.git('switch', '-q', '-c', 'side');
  at.write({ 'merged.txt': 'two\n', 'conv.trap': 'two\n' });
  at.commit('side');
  at.git('switch', '-q', 'main');
  at.write({ 'merged.txt': 'three\n' });
  at.commit('main');
  at.git('merge', '-q', '-s', 'ours', '-m', 'merged', 'side');
  at.git('tag', 'merge');
  const commit = at.git('cat-file', 'commit', 'HEAD').replace(/\n\n/, '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEz\n -----END PGP SIGNATURE-----\n\n');
  writeFileSync(join(at.cwd, '.git', 'commit'), commit);
  at.git('tag', 'signed', at.git('hash-object', '-t', 'commit', '-w', '.git/commit').trim());
  at.git('reset', '-q', '--hard', 'signed');
  const module = join(at.cwd, 'module');
  at.git('init', '-q', '-b', 'main', module);
  at.write({ 'module/in.txt': 'one\n', 'module/.gitattributes': '* filter=own\n' });
  at.git('-C', module, 'add', '.');
  at.git('-C', module, 'commit', '-q', '-m', 'inside');
  at.git('add', 'module');
  at.write({ 'plain.txt': 'stashed\n' });
  at.commit('module');
  at.write({ 'plain.txt': 'to be put aside\n' });
  at.git('stash', 'push', '-q', '-m', 'aside');
  at.write({ 'plain.txt': 'changed\n', 'conv.trap': 'changed\n' });
}

describe('a repository full of traps', () => {
  test('trips none of them', async () => {
    build();
    setTraps();
    for (const key of ['core.fsmonitor', 'diff.external']) at.git('-C', join(at.cwd, 'module'), 'config', key, trap(`module-${key}`, 'exit 1'));
    at.git('-C', join(at.cwd, 'module'), 'config', 'filter.own.clean', trap('module-clean'));
    at.write({ 'module/new.txt': 'x' });
    for (const name of tripped()) expect.fail(`${name} was tripped by the test itself`);
    touchAll();
    const index = statSync(join(at.cwd, '.git', 'index')).mtimeMs;
    await readEverything();
    expect(tripped()).toEqual([]);
    expect(statSync(join(at.cwd, '.git', 'index')).mtimeMs).toBe(index);
  });

  test('trips many of them for who looks with git alone: they do work', () => {
    build();
    setTraps();
    // Some of the traps end the command that steps into them.
    for (const args of [
      ['-c', 'core.fsmonitor=', 'status'],
      ['status'],
      ['-c', 'diff.external=', 'diff'],
      ['diff', 'HEAD~1', '--', 'plain.txt'],
      ['-c', 'filter.process.process=', 'status'],
      ['-c', 'diff.external=', 'diff', 'HEAD~1', '--', 'conv.trap'],
      ['log', '-1', '-m', '-p', 'merge'],
      ['log', '-1', 'signed'],
      ['-c', 'diff.external=', 'show', 'side', '--', 'conv.trap'],
      ['-c', 'diff.trap.command=', '-c', 'diff.external=', 'log', '-p', '--', 'conv.trap'],
      ['blame', 'equals.eq'],
      ['branch', 'new'],
    ]) {
      touchAll();
      spawnSync('git', args, { cwd: at.cwd });
    }
    expect(tripped()).toEqual(expect.arrayContaining(['clean', 'clean-equals', 'diff-command', 'diff-external', 'fsmonitor', 'gpg', 'hook-post-index-change', 'hook-reference-transaction', 'merge-driver', 'process', 'textconv']));
  });

  test('filters of the repository are named where files may look changed for it', async () => {
    build();
    expect(await at.text('git_status')).not.toContain('not run');
    setTraps();
    expect(await at.text('git_status')).toContain("(The filters trap, process, a=b of the repository's own configuration were not run");
  });

  test('a filter of the person runs as ever', async () => {
    build();
    const config = join(at.cwd, '.git', 'global-config');
    writeFileSync(config, `[filter "trap"]\n  clean = ${trap('own-clean', 'tr a-z A-Z')}\n`);
    await using own = await site({ bare: true, env: { GIT_CONFIG_GLOBAL: config } });
    own.git('clone', '-q', at.cwd, '.');
    own.write({ 'conv.trap': 'upper\n' });
    expect(await own.text('git_diff', { paths: ['conv.trap'] })).toContain('+UPPER');
    expect(tripped()).toContain('own-clean');
  });
});

test('what is turned off is what the repository configures, under any name', () => {
  const output = ['global', 'filter.lfs.clean\nlfs', 'local', 'filter.a=b.c.clean\nx\ny', 'local', 'filter.a=b.c.required', 'worktree', 'hook.日本.command\nz', 'local', 'core.worktree\n../x', 'command', 'hook.mine.event\npre-commit', ''].join('\0');
  expect(parseSettings(output)).toEqual({
    filters: ['a=b.c'],
    turnedOff: ['--config-env=filter.a=b.c.clean=AGENT_GIT_NONE', '--config-env=filter.a=b.c.smudge=AGENT_GIT_NONE', '--config-env=filter.a=b.c.process=AGENT_GIT_NONE', '--config-env=filter.a=b.c.required=AGENT_GIT_OFF', '--config-env=hook.日本.enabled=AGENT_GIT_OFF'],
    worktree: '../x',
  });
  expect(parseSettings('')).toEqual({ filters: [], turnedOff: [], worktree: undefined });
});

describe('a partial clone', () => {
  test.each(['ext', 'uploadpack', 'ssh', 'vcs'])('that would fetch by a program of its own (%s) does not', async (way) => {
    at.write({ 'a.txt': 'one\n' });
    at.commit('first');
    at.write({ 'a.txt': 'two\n' });
    at.commit('second');
    const blob = at.git('rev-parse', 'HEAD~1:a.txt').trim();
    at.git('config', 'core.repositoryFormatVersion', '1');
    at.git('config', 'extensions.partialClone', 'origin');
    at.git('config', 'remote.origin.promisor', 'true');
    at.git('config', 'protocol.allow', 'always');
    const program = trap(way, 'exit 1');
    const [key, value] = { ext: ['remote.origin.url', `ext::${program}`], uploadpack: ['remote.origin.uploadpack', program], ssh: ['core.sshCommand', program], vcs: ['remote.origin.vcs', 'ext'] }[way] as [string, string];
    at.git('config', 'remote.origin.url', way === 'ssh' ? 'ssh://host/x' : way === 'vcs' ? program : at.cwd);
    at.git('config', key, value);
    // Gone, as in a clone that never had it.
    rmSync(join(at.cwd, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
    expect(await at.failure('git_show')).toContain('partial clone');
    expect(tripped()).toEqual([]);
    expect(() => at.git('show')).toThrow();
    expect(existsSync(join(at.cwd, '.git', 'tripped', way))).toBe(true);
  });
});
