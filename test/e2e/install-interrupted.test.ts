/** Installations that end where nobody wanted them to: killed, cancelled, out of disk, or two at once. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readJournal } from '../../registry/install/journal.ts';
import { type InstallPlace, openInstallPlace } from '../support/install-place.ts';
import { pluginCode, pluginPublication } from '../support/npm-registry.ts';

// Each of these starts many processes, one after the other.
vi.setConfig({ testTimeout: 180_000 });

let at: InstallPlace;
beforeEach(async () => {
  at = await openInstallPlace();
  publish('1.0.0');
});
afterEach(() => at[Symbol.asyncDispose]());

const name = 'agent-plugin-target';
const trees = (): string => join(at.place.home, 'data', 'plugins');
const staging = (): string => join(trees(), '.staging');

function publish(version: string): void {
  // Enough files that staging takes a moment.
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`lib/file-${index}.js`, `module.exports = ${index};\n`.repeat(20)]));
  at.registry.publish(
    { name: 'needed-thing', version, files },
    { name: 'needed-other', version, files },
    pluginPublication(name, 'target', { version, agent: { activateOn: ['commands'] }, manifest: { dependencies: { 'needed-thing': version, 'needed-other': version } }, files: { 'index.ts': pluginCode('target', `'${version} ' + one`, "import one from 'needed-thing/lib/file-7.js';") } }),
  );
}

/** Either it is not there at all, or it is there and works; and the next writer leaves nothing of the dead one. */
async function isWhole(versions: readonly (string | undefined)[]): Promise<string | undefined> {
  const entry = at.entries()['target'];
  expect(versions).toContain(entry?.version);
  if (entry) expect((await at.agent(['target'])).stdout).toBe(`${entry.version} 7\n`);
  else expect((await at.plugin(['list'])).stdout).not.toContain('target');
  return entry?.version;
}

async function isSwept(): Promise<void> {
  const { code, stderr } = await at.plugin(['add', `${name}@1.0.0`, '--yes']);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect((await at.plugin(['remove', 'target', '--yes'])).code).toBe(0);
  expect(at.leftovers()).toEqual([]);
}

type Moment = (kill: () => void) => () => void;

const atRequest = (matches: (path: string, nth: number) => boolean): Moment => (kill) => {
  let nth = 0;
  at.registry.intercept((path) => {
    nth += 1;
    if (!matches(path, nth)) return false;
    kill();
    return true;
  });
  return () => at.registry.intercept(undefined);
};

/** As soon as `happened` holds, looked at whenever the data folder changes. */
const onDisk = (happened: () => boolean): Moment => (kill) => {
  mkdirSync(trees(), { recursive: true });
  const look = (): void => void (happened() && kill());
  const watcher = watch(join(at.place.home, 'data'), { recursive: true }, look);
  const timer = setInterval(look, 1);
  return () => {
    watcher.close();
    clearInterval(timer);
  };
};

const namesBelow = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
const staged = (file: string): boolean => namesBelow(staging()).some((one) => existsSync(join(staging(), one, 'node_modules', file)));
const journal = (): string => join(trees(), 'journal.jsonl');
const noted = (lines: number): boolean => readJournal(journal()).length >= lines;

/** Runs a command and kills it with -9 at the moment, if that comes. */
async function killed(words: readonly string[], moment: Moment): Promise<boolean> {
  let pid: number | undefined;
  let done = false;
  const stop = moment(() => {
    if (pid === undefined || done) return;
    done = true;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It was faster: then it has ended by itself, and that is told by its signal.
    }
  });
  const { signal } = await at.plugin(words, { onStart: (child) => (pid = child.pid) });
  stop();
  return signal === 'SIGKILL';
}

const moments: readonly (readonly [string, Moment])[] = [
  ['at the first request', atRequest((_, nth) => nth === 1)],
  ['at the packument of a dependency', atRequest((path) => path === '/needed-thing')],
  ['at the tarball of the plugin', atRequest((path) => path.includes(`${name}-`))],
  ['at the tarball of a dependency', atRequest((path) => path.includes('needed-other-'))],
  ['when the claim is there', onDisk(() => namesBelow(staging()).some((one) => one.endsWith('.claim')))],
  ['while the first package is staged', onDisk(() => staged(`${name}/package.json`))],
  ['while the last package is staged', onDisk(() => staged('needed-thing/lib/file-1.js'))],
  ['when the change is noted', onDisk(() => noted(1))],
  ['when the tree is in place', onDisk(() => namesBelow(join(trees(), 'target')).length > 0)],
  ['when the lock file is there', onDisk(() => at.lockText() !== '')],
];

const swift: readonly string[] = ['when the change is noted', 'when the tree is in place', 'when the lock file is there'];

describe('an installation that is killed', () => {
  it.each(moments)('%s leaves the old state or the new', async (when, moment) => {
    const hit = await killed(['add', name, '--yes'], moment);
    // The switch itself takes a few milliseconds: whether it was hit is up to the machine. Everything before it is.
    if (!swift.includes(when)) expect(hit).toBe(true);
    await isWhole([undefined, '1.0.0']);
    await isSwept();
  });

  it('at any moment leaves the old state or the new', async () => {
    const seen = new Set<string>();
    const { ms } = await at.plugin(['add', name, '--yes']);
    await at.plugin(['remove', 'target']);
    for (let round = 0; round < 6; round += 1) {
      // From the cache: most of the time is in planning, staging and switching.
      const after = (ms * (4 + 2 * round)) / 16;
      const hit = await killed(['add', name, '--yes'], (kill) => {
        const timer = setTimeout(kill, after);
        return () => clearTimeout(timer);
      });
      seen.add(`${hit ? 'killed' : 'ended'}, ${(await isWhole([undefined, '1.0.0'])) ?? 'nothing'}`);
      if (at.entries()['target']) await at.plugin(['remove', 'target']);
    }
    expect([...seen]).toContain('killed, nothing');
    await isSwept();
  });
});

describe('an update and a removal that are killed', () => {
  it.each(moments.slice(6))('%s leave the old state or the new', async (_, moment) => {
    await at.plugin(['add', name, '--yes']);
    publish('1.1.0');
    const isUpdate = _ === 'when the change is noted' ? onDisk(() => noted(3)) : _ === 'when the tree is in place' ? onDisk(() => namesBelow(join(trees(), 'target')).length > 1) : _ === 'when the lock file is there' ? onDisk(() => at.lockText().includes('"previous"')) : moment;
    await killed(['update', 'target', '--yes'], isUpdate);
    const version = await isWhole(['1.0.0', '1.1.0']);
    const lines = readJournal(journal()).length;
    const before = statSync(join(at.place.home, 'data', 'agent-plugins.lock')).ino;
    await killed(['remove', 'target', '--yes'], onDisk(() => (_.includes('noted') ? noted(lines + 1) : statSync(join(at.place.home, 'data', 'agent-plugins.lock'), { throwIfNoEntry: false })?.ino !== before)));
    await isWhole([version, undefined]);
    await at.plugin(['remove', 'target', '--yes']);
    await isSwept();
  });
});

describe('Ctrl-C', () => {
  it('while the registry is waited for stops at once, with the code a shell expects, and leaves nothing', async () => {
    let child: { kill(signal: NodeJS.Signals): unknown } | undefined;
    at.registry.intercept((path) => {
      if (!path.endsWith('.tgz')) return false;
      child?.kill('SIGINT');
      return true;
    });
    const { code, stderr } = await at.plugin(['add', name, '--yes'], { onStart: (started) => (child = started) });
    expect(stderr).toContain('Cancelled: nothing was changed.');
    expect(code).toBe(130);
    expect(at.leftovers()).toEqual([]);
  });
});

describe('two at once', () => {
  it('that add the same plugin both end well, and one of them says that nothing changed', async () => {
    const ends = await Promise.all([at.plugin(['add', name, '--yes']), at.plugin(['add', name, '--yes'])]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    expect(ends.map(({ stdout }) => stdout.split(' ')[0]).sort()).toEqual(['Added', 'Unchanged:']);
    await isWhole(['1.0.0']);
    expect(namesBelow(join(trees(), 'target'))).toHaveLength(1);
    await isSwept();
  });

  it('that add different plugins both have theirs', async () => {
    at.registry.publish(pluginPublication('agent-plugin-second', 'second'));
    const ends = await Promise.all([at.plugin(['add', name, '--yes']), at.plugin(['add', 'agent-plugin-second', '--yes'])]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    expect(Object.keys(at.entries())).toEqual(['second', 'target']);
    expect(namesBelow(staging())).toEqual([]);
  });
});

/** A small disk of its own, where this process may mount one. */
function mountSmallDisk(folder: string, size: string): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a full disk', () => {
  it('of the data folder leaves the old state, says so, and nothing that is not swept', async ({ skip }) => {
    const data = join(at.place.home, 'data');
    if (!mountSmallDisk(data, '2m')) skip('this process may not mount a disk');
    try {
      at.registry.publish(pluginPublication('agent-plugin-small', 'small'));
      expect((await at.plugin(['add', 'agent-plugin-small', '--yes'])).code).toBe(0);
      const before = at.lockText();
      const { code, stderr } = await at.plugin(['add', name, '--yes']);
      expect(stderr).toMatch(/agent: the disk of .* is full: nothing was changed\n {2}make room/);
      expect(code).toBe(1);
      expect(at.lockText()).toBe(before);
      expect(namesBelow(staging())).toEqual([]);
      expect((await at.agent(['small'])).stdout).toBe('hello from small\n');
    } finally {
      execFileSync('umount', [data]);
    }
  });

  it('of the cache is told as well', async ({ skip }) => {
    const cache = join(at.place.home, 'cache');
    if (!mountSmallDisk(cache, '256k')) skip('this process may not mount a disk');
    try {
      at.registry.publish(pluginPublication('agent-plugin-big', 'big', { files: { 'noise.txt': Array.from({ length: 80_000 }, () => Math.random().toString(36)).join('') } }));
      const { code, stderr } = await at.plugin(['add', 'agent-plugin-big', '--yes']);
      expect(stderr).toMatch(/agent: the disk of .* is full/);
      expect(code).toBe(1);
      expect(at.entries()).toEqual({});
    } finally {
      execFileSync('umount', [cache]);
    }
  });
});

