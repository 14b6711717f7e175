import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { homePaths, isInside, projectFolder } from './paths.ts';

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'newt-paths-')));
});

const makeFolder = (...parts: string[]): string => {
  const folder = join(home, ...parts);
  mkdirSync(folder, { recursive: true });
  return folder;
};

test('the folders follow the XDG specification', () => {
  expect(homePaths({ HOME: '/home/ada' }, 'linux')).toEqual({
    config: '/home/ada/.config/agent',
    data: '/home/ada/.local/share/agent',
    state: '/home/ada/.local/state/agent',
    cache: '/home/ada/.cache/agent',
  });
  expect(homePaths({ HOME: '/home/ada', XDG_CONFIG_HOME: '/etc/ada', XDG_CACHE_HOME: 'relative', XDG_STATE_HOME: '' }, 'linux')).toMatchObject({
    config: '/etc/ada/agent',
    cache: '/home/ada/.cache/agent',
    state: '/home/ada/.local/state/agent',
  });
});

test('AGENT_HOME moves everything', () => {
  const moved = { config: '/ci/config', data: '/ci/data', state: '/ci/state', cache: '/ci/cache' };
  expect(homePaths({ HOME: '/home/ada', XDG_CONFIG_HOME: '/etc/ada', AGENT_HOME: '/ci' }, 'linux')).toEqual(moved);
});

test('Windows has roaming and local folders', () => {
  const env = { USERPROFILE: 'C:\\Users\\ada', APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' };
  expect(homePaths(env, 'win32')).toEqual({
    config: 'C:\\Users\\ada\\AppData\\Roaming\\agent\\config',
    data: 'C:\\Users\\ada\\AppData\\Local\\agent\\data',
    state: 'C:\\Users\\ada\\AppData\\Local\\agent\\state',
    cache: 'C:\\Users\\ada\\AppData\\Local\\agent\\cache',
  });
});

test('the nearest .agent folder up to the git root is the project\'s', () => {
  makeFolder('repo', '.git');
  const agent = makeFolder('repo', '.agent');
  const inner = makeFolder('repo', 'packages', 'one');
  expect(projectFolder(inner, home)).toBe(agent);
  const nearer = makeFolder('repo', 'packages', '.agent');
  expect(projectFolder(inner, home)).toBe(nearer);
});

test('the search does not leave a git root, which may be a file', () => {
  makeFolder('.agent');
  makeFolder('work', '.agent');
  const repo = makeFolder('work', 'repo');
  writeFileSync(join(repo, '.git'), 'gitdir: elsewhere');
  expect(projectFolder(makeFolder('work', 'repo', 'src'), home)).toBeUndefined();
});

test('the .agent of the home folder counts only there', () => {
  const agent = makeFolder('.agent');
  expect(projectFolder(home, home)).toBe(agent);
  expect(projectFolder(makeFolder('notes'), home)).toBeUndefined();
});

test('where neither home nor a git root lies above, only the folder itself counts', () => {
  const elsewhere = makeFolder('elsewhere');
  makeFolder('shared', '.agent');
  const inner = makeFolder('shared', 'mine');
  expect(projectFolder(inner, elsewhere)).toBeUndefined();
  const own = makeFolder('shared', 'mine', '.agent');
  expect(projectFolder(inner, elsewhere)).toBe(own);
});

test('symlinks are followed, files named .agent and folders that are gone are not folders', () => {
  const real = makeFolder('real', '.agent');
  symlinkSync(join(home, 'real'), join(home, 'link'));
  expect(projectFolder(join(home, 'link'), home)).toBe(real);
  writeFileSync(join(makeFolder('file'), '.agent'), '');
  expect(projectFolder(join(home, 'file'), home)).toBeUndefined();
  expect(projectFolder(join(home, 'gone'), home)).toBeUndefined();
});

test('inside is decided by path segments', () => {
  expect(isInside('/a/b', '/a/b')).toBe(true);
  expect(isInside('/a/b', '/a/b/..c')).toBe(true);
  expect(isInside('/a/b', '/a/bc')).toBe(false);
  expect(isInside('/a/b', '/a')).toBe(false);
});
