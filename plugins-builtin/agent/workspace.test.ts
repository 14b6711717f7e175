/** Confinement: a path is judged by where the file system would take it, not by how it is written. */
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isOperational } from 'newt-agent';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/support/boot.ts';
import { openWorkspace, type ResolvedPath, resolvePath, type Workspace } from './workspace.ts';

let base: string;
let cwd: string;
let outside: string;
let workspace: Workspace;

beforeEach(async () => {
  base = temporaryFolder();
  [cwd, outside] = [join(base, 'ws'), join(base, 'out')];
  for (const folder of ['ws/src', 'ws/.agent', 'out/deep', 'extra', 'config']) mkdirSync(join(base, folder), { recursive: true });
  for (const name of ['ws/a.txt', 'ws/src/b.txt', 'out/secret', 'out/deep/er', 'ws-evil']) writeFileSync(join(base, name), name);
  workspace = await openWorkspace(cwd, ['../extra'], [join(base, 'config')]);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const link = (target: string, name: string): void => symlinkSync(target, join(cwd, name));
const judged = (path: string): Promise<ResolvedPath> => resolvePath(workspace, path);
const failure = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(() => new Error('it did not fail'), (reason: unknown) => reason);
  expect(isOperational(error)).toBe(true);
  return (error as Error).message;
};

describe('inside', () => {
  test.each([
    ['a.txt', 'ws/a.txt'],
    ['.', 'ws'],
    ['', 'ws'],
    ['./src/../src/b.txt', 'ws/src/b.txt'],
    ['new/deep/file', 'ws/new/deep/file'],
    ['a.txt/below-a-file', 'ws/a.txt/below-a-file'],
    ['..names/that/only/look/like/it', 'ws/..names/that/only/look/like/it'],
    ['../ws/a.txt', 'ws/a.txt'],
    ['../extra/x', 'extra/x'],
    ['src\\..\\..\\x', 'ws/src\\..\\..\\x'],
    ['~/x', 'ws/~/x'],
  ])('%j is %s', async (given, real) => {
    expect(await judged(given)).toEqual({ real: join(base, real), inWorkspace: true, inAgentFolder: false });
  });

  test('absolute paths count by where they lie', async () => {
    expect(await judged(join(cwd, 'a.txt'))).toMatchObject({ inWorkspace: true });
    expect(await judged(join(base, 'extra'))).toMatchObject({ inWorkspace: true });
    expect(await judged(`${cwd}/missing/../../out/x`)).toMatchObject({ real: join(outside, 'x'), inWorkspace: false });
  });

  test('a link that stays inside is followed to the one file it means', async () => {
    link('src', 'also-src');
    link('also-src/b.txt', 'chain');
    link('not-yet/file', 'dangling');
    expect(await judged('also-src/b.txt')).toMatchObject({ real: join(cwd, 'src/b.txt'), inWorkspace: true });
    expect(await judged('chain')).toMatchObject({ real: join(cwd, 'src/b.txt'), inWorkspace: true });
    expect(await judged('dangling')).toMatchObject({ real: join(cwd, 'not-yet/file'), inWorkspace: true });
  });
});

describe('outside', () => {
  test.each(['..', '../out/secret', '../ws-evil', '/etc/passwd', '/', 'src/../../out/secret', '../../../../../../../../etc/shadow', '../new'])('%j', async (given) => {
    expect(await judged(given)).toMatchObject({ inWorkspace: false });
  });

  test.each([
    ['a link to a file', '../out/secret', 'l', 'l', 'out/secret'],
    ['a link to a folder, and through it', '../out', 'l', 'l/deep/er', 'out/deep/er'],
    ['a file that would be made behind a link', '../out', 'l', 'l/new/file', 'out/new/file'],
    ['a dangling link', '../out/new', 'l', 'l', 'out/new'],
    ['a dangling link with a slash behind it', '../out/new', 'l', 'l/', 'out/new'],
    ['a path through a dangling link', '../out/new', 'l', 'l/x/y', 'out/new/x/y'],
  ])('%s', async (_, target, name, given, real) => {
    link(target, name);
    expect(await judged(given)).toMatchObject({ real: join(base, real), inWorkspace: false });
  });

  test('the parent of what a link leads to, where the path is absolute', async () => {
    link('../out/deep', 'l');
    expect(await judged(`${cwd}/l/../secret`)).toMatchObject({ real: join(outside, 'secret'), inWorkspace: false });
  });

  test('a chain of links of which only the last one leaves', async () => {
    link('two', 'one');
    link('three', 'two');
    link('../out/missing/x', 'three');
    expect(await judged('one')).toMatchObject({ real: join(outside, 'missing/x'), inWorkspace: false });
  });
});

describe('what leads nowhere is refused', () => {
  test('circles of links', async () => {
    link('b', 'a');
    link('a', 'b');
    link('self/x', 'self');
    for (const path of ['a', 'b/c', 'self', 'self/y']) expect(await failure(judged(path))).toMatch(/symbolic link|ELOOP/);
  });

  test('an endless chain of dangling links', async () => {
    for (let n = 0; n < 60; n += 1) link(`c${n + 1}/x`, `c${n}`);
    expect(await failure(judged('c0'))).toContain('symbolic links');
  });

  test('NUL, and names no file system takes', async () => {
    expect(await failure(judged('a.txt\0.png'))).toContain('NUL');
    expect(await failure(judged('x'.repeat(5_000)))).toContain('ENAMETOOLONG');
  });

  test('a workspace that is missing or no folder', async () => {
    expect(await failure(openWorkspace(join(base, 'gone'), [], []))).toContain('does not exist');
    expect(await failure(openWorkspace(join(cwd, 'a.txt'), [], []))).toContain('not a folder');
  });
});

describe('what can change the agent', () => {
  test.each(['.agent', '.agent/plugins/x.ts', '.Agent/config.yaml', '.AGENT/x', 'sub/.agent/x', 'src/../.agent/new', '../out/.agent', '../config/config.yaml', '../config'])('%j', async (given) => {
    expect(await judged(given)).toMatchObject({ inAgentFolder: true });
  });

  test.each(['agent', '.agents/x', 'x.agent', '.agent.md', '../configuration'])('but not %j', async (given) => {
    expect(await judged(given)).toMatchObject({ inAgentFolder: false });
  });

  test('under whatever name a link gives it', async () => {
    link('.agent', 'harmless');
    link('../config', 'c');
    link('.agent/plugins/new.ts', 'dangling');
    for (const path of ['harmless/x', 'c/config.yaml', 'dangling']) expect(await judged(path)).toMatchObject({ inAgentFolder: true });
  });

  test('a guarded folder behind a link, and one that does not exist yet', async () => {
    symlinkSync(join(base, 'config'), join(base, 'config-link'));
    workspace = await openWorkspace(cwd, [], [join(base, 'config-link'), join(base, 'later')]);
    expect(await judged('../config/x')).toMatchObject({ inAgentFolder: true });
    expect(await judged('../later/x')).toMatchObject({ inAgentFolder: true });
  });
});

test('a workspace at the root, or behind a link, holds what is in it', async () => {
  expect(await resolvePath(await openWorkspace('/', [], []), '/etc/passwd')).toMatchObject({ inWorkspace: true });
  symlinkSync(cwd, join(base, 'ws-link'));
  workspace = await openWorkspace(join(base, 'ws-link'), [], []);
  expect(workspace.cwd).toBe(cwd);
  expect(await judged(join(base, 'ws-link', 'a.txt'))).toMatchObject({ real: join(cwd, 'a.txt'), inWorkspace: true });
});

test('for any tree of links: what is made at a path lies where the judgement said', async () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const place = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const root = fc.constantFrom('ws', 'out', 'extra');
  const target = fc.oneof(
    fc.tuple(fc.constantFrom('', '../', '../../', '../../../out/', '../out/', '../extra/'), place).map(([up, rest]) => up + rest),
    fc.tuple(root, place).map(([where, rest]) => `/BASE/${where}/${rest}`),
  );
  const entry = fc.record({ root, place, kind: fc.constantFrom('folder', 'file', 'link', 'link', 'link'), target });
  const asked = fc.oneof(place, fc.tuple(place, place).map(([a, b]) => `${a}/../${b}`), fc.tuple(root, place).map(([where, rest]) => `/BASE/${where}/${rest}`), place.map((rest) => `../out/${rest}`));
  const seen = { in: 0, out: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 8 }), fc.array(asked, { minLength: 1, maxLength: 6 }), async (entries, paths) => {
      for (const each of ['ws', 'out', 'extra']) {
        rmSync(join(base, each), { recursive: true, force: true });
        mkdirSync(join(base, each));
      }
      for (const one of entries) plant(join(base, one.root, one.place), one.kind, one.target.replace('/BASE', base));
      for (const path of paths) {
        const given = path.replace('/BASE', base);
        const answer = await judged(given).catch((error: unknown) => {
          if (!isOperational(error)) throw error;
          return undefined;
        });
        if (!answer) continue;
        // As a tool does it: at the path that was judged.
        const made = make(answer.real);
        if (made === undefined) continue;
        expect(made, `${given} was judged to be ${answer.real}`).toBe(answer.real);
        const inside = ['ws', 'extra'].some((each) => !relative(join(base, each), made).startsWith('..'));
        expect(answer.inWorkspace, given).toBe(inside);
        seen[inside ? 'in' : 'out'] += 1;
        // And the path as it was given, which a shell would follow, leads to the same place.
        if (!given.includes('..')) expect(realpathSync(join(given.startsWith('/') ? '/' : cwd, given))).toBe(answer.real);
      }
    }),
    { numRuns: 150 },
  );
  expect(Math.min(seen.in, seen.out)).toBeGreaterThan(20);
});

function plant(path: string, kind: string, target: string): void {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })) return;
    mkdirSync(dirname(path), { recursive: true });
    if (kind === 'folder') mkdirSync(path);
    else if (kind === 'file') writeFileSync(path, '');
    else symlinkSync(target, path);
  } catch {
    // An earlier entry is in the way: the tree is as good without this one.
  }
}

/** Where the file lies that opening `path` for writing makes, or undefined where nothing can be made. */
function make(path: string): string | undefined {
  try {
    if (!existsSync(path)) {
      mkdirSync(dirname(path), { recursive: true });
      closeSync(openSync(path, 'a'));
    }
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
