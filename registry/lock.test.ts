import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Place, place } from './commands.testing.ts';
import { treeName } from './install/tree.ts';
import { type InstalledEntry, type LockEntry, readLock, updateLock } from './lock.ts';

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => {
  vi.restoreAllMocks();
  at.remove();
});

const entry: LockEntry = { source: 'link', path: '/src/hello', version: '1.0.0', contentDigest: 'd', capabilities: ['net', 'exec'], addedAt: '2026-01-02T03:04:05.000Z' };
const adding = (id: string): Promise<void> => updateLock(at.lock, (entries) => ({ ...entries, [id]: entry }));

/** Another process that has `updateLock`, `file` and `entry`, and runs `code`. */
function other(code: string): ChildProcess {
  const script = `
    import { createJiti } from 'jiti';
    const root = ${JSON.stringify(new URL('..', import.meta.url).pathname)};
    const jiti = createJiti(root, { fsCache: false, alias: { 'newt-agent': root + 'plugins-builtin/public.ts' } });
    const { updateLock } = await jiti.import(root + 'registry/lock.ts');
    const file = ${JSON.stringify(at.lock)};
    const entry = ${JSON.stringify(entry)};
    ${code}`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: new URL('..', import.meta.url), stdio: ['ignore', 'pipe', 'inherit'] });
}

function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

function claim(text: string): string {
  mkdirSync(dirname(at.lock), { recursive: true });
  writeFileSync(`${at.lock}.writing`, text);
  return `${at.lock}.writing`;
}

describe('reading', () => {
  it('answers nothing where there is no file', () => {
    expect(readLock(at.lock)).toEqual({});
  });

  it.each([
    ['', 'JSON'],
    ['[]', 'the file'],
    ['{"version":0,"plugins":{}}', 'version'],
    ['{"version":1,"plugins":{"X":{}}}', 'plugins.X'],
    ['{"version":1,"plugins":{"x":{"source":"link"}}}', 'plugins.x.path'],
    [`{"version":1,"plugins":{"x":${JSON.stringify({ ...entry, path: 'src/hello' })}}}`, 'plugins.x.path: must be an absolute path'],
    [`{"version":1,"plugins":{},"more":1}`, 'more'],
  ])('refuses %j and names the key', (text, key) => {
    at.write('home/data/agent-plugins.lock', text);
    expect(() => readLock(at.lock)).toThrow(`${at.lock}: `);
    expect(() => readLock(at.lock)).toThrow(key);
  });

  it('refuses what a newer agent wrote', () => {
    at.write('home/data/agent-plugins.lock', '{"version":3,"plugins":[]}');
    expect(() => readLock(at.lock)).toThrow('version: 3 is newer than this agent knows (2)');
  });

  it('refuses a folder in its place', () => {
    mkdirSync(at.lock, { recursive: true });
    expect(() => readLock(at.lock)).toThrow(/cannot be read: it is not a file/);
  });
});

const integrity = `sha512-${'A'.repeat(86)}==`;
const installed: InstalledEntry = {
  source: 'npm', asked: 'words@^1', name: 'words', version: '1.0.0', integrity,
  packages: { 'node_modules/words': { version: '1.0.0', integrity }, 'node_modules/@a/b/node_modules/c.d': { version: '2.0.0-rc.1+x', integrity } },
  contentDigest: 'a'.repeat(64), capabilities: ['net'], capabilityDigest: 'b'.repeat(64), publisher: 'ann', attested: true, addedAt: '2026-01-02T03:04:05.000Z',
};

describe('an installed plugin', () => {
  it('is read as it was written, with the version before it', async () => {
    const { source, ...rest } = installed;
    const whole = { ...installed, previous: { source, ...rest, version: '0.9.0' } };
    await updateLock(at.lock, () => ({ words: whole }));
    expect(readLock(at.lock)).toEqual({ words: whole });
    const before = readFileSync(at.lock, 'utf8');
    await updateLock(at.lock, (entries) => entries);
    expect(readFileSync(at.lock, 'utf8')).toBe(before);
  });

  it.each([
    ['a place that climbs', { packages: { 'node_modules/../x': { version: '1.0.0', integrity } } }],
    ['an absolute place', { packages: { '/node_modules/x': { version: '1.0.0', integrity } } }],
    ['a hidden place', { packages: { 'node_modules/.bin': { version: '1.0.0', integrity } } }],
    ['a version that is a path', { version: '1.0.0/../..' }],
    ['a range', { version: '^1.0.0' }],
    ['a weak integrity', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }],
    ['a name that is a path', { name: '../words' }],
    ['a digest that is none', { contentDigest: '../x' }],
    ['a version before that is damaged', { previous: { ...installed, version: 'x' } }],
  ])('is not read with %s', (_, part) => {
    at.write('home/data/agent-plugins.lock', JSON.stringify({ version: 2, plugins: { words: { ...installed, ...part } } }));
    expect(() => readLock(at.lock)).toThrow('plugins.words');
  });

  it('has a tree of its own name for other packages, whatever order they are told in', () => {
    const turned = { ...installed, packages: Object.fromEntries(Object.entries(installed.packages).reverse()) };
    expect(treeName(turned)).toBe(treeName(installed));
    expect(treeName({ ...installed, packages: { 'node_modules/words': { version: '1.0.0', integrity } } })).not.toBe(treeName(installed));
    expect(treeName(installed)).toMatch(/^1\.0\.0-[0-9a-f]{12}$/);
  });
});

describe('writing', () => {
  it('gives the same bytes for the same entries, sorted', async () => {
    await adding('zeta');
    await adding('alpha');
    const bytes = readFileSync(at.lock, 'utf8');
    expect(bytes).toBe(`{
  "version": 2,
  "plugins": {
    "alpha": {
      "source": "link",
      "path": "/src/hello",
      "version": "1.0.0",
      "contentDigest": "d",
      "capabilities": [
        "exec",
        "net"
      ],
      "addedAt": "2026-01-02T03:04:05.000Z"
    },
    "zeta": {
      "source": "link",
      "path": "/src/hello",
      "version": "1.0.0",
      "contentDigest": "d",
      "capabilities": [
        "exec",
        "net"
      ],
      "addedAt": "2026-01-02T03:04:05.000Z"
    }
  }
}
`);
    await adding('alpha');
    expect(readFileSync(at.lock, 'utf8')).toBe(bytes);
  });

  it('leaves the file as it was when the change fails, and lets go of it', async () => {
    await adding('hello');
    await expect(updateLock(at.lock, () => { throw new Error('no'); })).rejects.toThrow('no');
    await adding('again');
    expect(Object.keys(readLock(at.lock))).toEqual(['again', 'hello']);
    expect(readdirSync(dirname(at.lock))).toEqual(['agent-plugins.lock']);
  });

  it('names the file where the disk refuses', async () => {
    at.write('home/data', '');
    await expect(adding('hello')).rejects.toThrow(/agent-plugins\.lock cannot be written: (ENOTDIR|EEXIST)/);
  });
});

describe('two processes', () => {
  it('lose nothing of each other', async () => {
    const count = 25;
    const work = (name: string): string => `for (let n = 0; n < ${count}; n++) await updateLock(file, (entries) => ({ ...entries, ['${name}' + n]: entry }));`;
    const children = [other(work('a')), other(work('b'))];
    expect(await Promise.all(children.map((child) => once(child, 'exit')))).toEqual([[0, null], [0, null]]);
    expect(Object.keys(readLock(at.lock))).toHaveLength(2 * count);
    expect(readdirSync(dirname(at.lock))).toEqual(['agent-plugins.lock']);
  });

  it('take over from one that was killed while it wrote', async () => {
    await adding('before');
    const child = other(`await updateLock(file, () => process.kill(process.pid, 'SIGKILL'));`);
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    expect(JSON.parse(readFileSync(`${at.lock}.writing`, 'utf8'))).toMatchObject({ pid: child.pid });
    expect(Object.keys(readLock(at.lock))).toEqual(['before']);
    await adding('after');
    expect(Object.keys(readLock(at.lock))).toEqual(['after', 'before']);
    expect(existsSync(`${at.lock}.writing`)).toBe(false);
  });

  it('take over from one that was killed before it had a name', async () => {
    const file = claim('');
    utimesSync(file, 0, 0);
    await adding('hello');
    expect(Object.keys(readLock(at.lock))).toEqual(['hello']);
  });

  it('that find the same dead one both get their turn', async () => {
    claim(String(deadPid()));
    const children = ['a', 'b', 'c'].map((name) => other(`await updateLock(file, (entries) => ({ ...entries, ${name}: entry }));`));
    expect(await Promise.all(children.map((child) => once(child, 'exit')))).toEqual([[0, null], [0, null], [0, null]]);
    expect(Object.keys(readLock(at.lock))).toEqual(['a', 'b', 'c']);
  });

  it('wait 5 s for one that lives, then say who it is', async () => {
    const file = claim(String(process.ppid));
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 2_000));
    await expect(adding('hello')).rejects.toMatchObject({ message: `${at.lock} is being written by process ${process.ppid}`, hint: expect.stringContaining(`delete ${file}`) });
    expect(readFileSync(file, 'utf8')).toBe(String(process.ppid));
    expect(existsSync(join(at.lock))).toBe(false);
  });
});
