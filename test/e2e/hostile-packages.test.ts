/** Packages that mean harm, against the built command: nothing of theirs may run, and nothing may be left. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type InstallPlace, isRefused, openInstallPlace } from '../support/install-place.ts';
import { pluginCode, pluginPublication } from '../support/npm-registry.ts';
import { packageTarball, tarball, type TarEntry } from '../support/tarball.ts';

// Each of these starts many processes, one after the other.
vi.setConfig({ testTimeout: 180_000 });

let at: InstallPlace;
beforeEach(async () => {
  at = await openInstallPlace();
});
afterEach(() => at[Symbol.asyncDispose]());

const name = 'agent-plugin-hostile';
const packageJson = (extra: object = {}): string => JSON.stringify({ name, version: '1.0.0', type: 'module', agent: { id: 'hostile', activateOn: ['commands'] }, ...extra });
const good: TarEntry[] = [
  { path: 'package/package.json', content: packageJson() },
  { path: 'package/index.ts', content: pluginCode('hostile') },
];

const refused = (reason: RegExp, words: readonly string[] = ['add', name]): Promise<void> => isRefused(at, reason, words);

/** It needs somebody to accept it by name: `--yes` alone is not enough, the name is. */
async function needsAccepting(concern: string, words: readonly string[] = ['add', name]): Promise<void> {
  const first = await at.plugin([...words, '--yes']);
  expect(first.stderr).toContain(`--accept ${concern}`);
  expect(first.code).toBe(2);
  expect(at.leftovers()).toEqual([]);
  const second = await at.plugin([...words, '--yes', '--accept', concern]);
  expect(second).toMatchObject({ code: 0 });
}

describe('a package', () => {
  it('with install scripts never runs them, even where they were accepted', async () => {
    const ran = join(at.place.root, 'ran');
    const scripts = Object.fromEntries(['preinstall', 'install', 'postinstall', 'prepare'].map((one) => [one, `node -e "require('fs').writeFileSync('${ran}', '${one}')"`]));
    at.registry.publish({ name: 'scripted', manifest: { scripts } }, pluginPublication(name, 'hostile', { manifest: { scripts, dependencies: { scripted: '*' } } }));
    await needsAccepting('scripts');
    expect((await at.agent(['hostile'])).stdout).toContain('hello');
    expect(existsSync(ran)).toBe(false);
  });

  it('that runs code when it is added cannot', async () => {
    const ran = join(at.place.root, 'ran');
    at.registry.publish(pluginPublication(name, 'hostile', { agent: { activateOn: ['command:hostile'] }, files: { 'index.ts': `require('fs').writeFileSync('${ran}', '');\n${pluginCode('hostile')}` } }));
    expect((await at.plugin(['add', name, '--yes'])).code).toBe(0);
    expect(existsSync(ran)).toBe(false);
  });

  it('that is young needs accepting, and a range takes an older one by itself', async () => {
    at.registry.publish(pluginPublication(name, 'hostile', { version: '1.0.0' }), pluginPublication(name, 'hostile', { version: '1.1.0', daysAgo: 2 }));
    await needsAccepting('young', ['add', `${name}@1.1.0`]);
    await at.plugin(['remove', 'hostile']);
    expect(await at.plugin(['add', `${name}@^1.0.0`, '--yes'])).toMatchObject({ code: 0, stdout: expect.stringContaining('hostile 1.0.0') });
  });

  it('whose dependency only has a young version needs accepting', async () => {
    at.registry.publish({ name: 'fresh-dependency', version: '2.0.0', daysAgo: 400 }, { name: 'fresh-dependency', version: '2.0.1', daysAgo: 1 }, pluginPublication(name, 'hostile', { manifest: { dependencies: { 'fresh-dependency': '2.0.1' } } }));
    await needsAccepting('young');
  });

  it('whose age nobody tells needs accepting', async () => {
    at.registry.publish(pluginPublication(name, 'hostile', { daysAgo: null }));
    await needsAccepting('young');
  });

  it('that is new to the world needs accepting', async () => {
    at.registry.publish(pluginPublication(name, 'hostile', { daysAgo: 30 }));
    await needsAccepting('name');
  });

  it('that is exchanged on its way is refused', async () => {
    at.registry.publish(pluginPublication(name, 'hostile'));
    at.registry.tamper(name, '1.0.0', packageTarball({ 'package.json': packageJson(), 'index.ts': 'throw 1' }));
    await refused(/its integrity is wrong/);
  });

  it('without an integrity, or with a weak one, is refused', async () => {
    at.registry.publish(pluginPublication(name, 'hostile', { integrity: null }));
    await refused(/no sha512 integrity/);
    at.registry.publish(pluginPublication(name, 'hostile', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }));
    await refused(/no sha512 integrity/);
  });

  it.each<[string, TarEntry]>([
    ['a path that climbs', { path: 'package/../../../../escaped', content: 'x' }],
    ['an absolute path', { path: '/tmp/newt-escaped', content: 'x' }],
    ['a path with backslashes', { path: 'package/..\\..\\escaped', content: 'x' }],
    ['a drive', { path: 'C:/escaped', content: 'x' }],
    ['a link', { path: 'package/link', type: '2', link: '/etc' }],
    ['a link inside', { path: 'package/link', type: '2', link: 'index.ts' }],
    ['a hard link', { path: 'package/hard', type: '1', link: '/etc/hostname' }],
    ['a device', { path: 'package/device', type: '3' }],
    ['a file twice', { path: 'package/index.ts', content: 'x' }],
  ])('that holds %s is refused', async (_, entry) => {
    at.registry.publish(pluginPublication(name, 'hostile', { tarball: tarball([...good, entry]) }));
    await refused(/leads out of its folder|is a link|a hard link|no file|twice/);
    expect(existsSync('/tmp/newt-escaped')).toBe(false);
    expect(existsSync(join(at.place.root, 'escaped'))).toBe(false);
  });

  it('that writes through a link of its own is refused before anything is written', async () => {
    const outside = join(at.place.root, 'outside');
    mkdirSync(outside);
    at.registry.publish(pluginPublication(name, 'hostile', { tarball: tarball([...good, { path: 'package/out', type: '2', link: outside }, { path: 'package/out/owned', content: 'x' }]) }));
    await refused(/is a link/);
    expect(readdirSync(outside)).toEqual([]);
  });

  it('that is a bomb is refused before it is unpacked', async () => {
    const zeros = Buffer.alloc(50_000_000);
    at.registry.publish(pluginPublication(name, 'hostile', { tarball: tarball([...good, { path: 'package/a', content: zeros }, { path: 'package/b', content: zeros }, { path: 'package/c', content: zeros }]) }));
    await refused(/unpacks to more than 100 MB/);
    at.registry.publish(pluginPublication(name, 'hostile', { version: '1.0.1', tarball: tarball([...good, ...Array.from({ length: 20_001 }, (_, index) => ({ path: `package/f${index}` }))]) }));
    await refused(/more than 20000 files/);
  });

  it('that is no archive at all is refused', async () => {
    at.registry.publish(pluginPublication(name, 'hostile', { tarball: gzipSync('not a tar archive, but long enough to be looked at'.repeat(40)) }));
    await refused(/cannot be unpacked|no package.json/);
    at.registry.publish(pluginPublication(name, 'hostile', { version: '1.0.1', tarball: packageTarball({ 'package.json': packageJson() }).subarray(0, 60) }));
    await refused(/damaged/);
  });

  it('that takes more room or brings more packages than you said needs accepting', async () => {
    at.registry.publish(pluginPublication(name, 'hostile', { files: { 'big.txt': 'x'.repeat(21_000_000) } }));
    await needsAccepting('size');
    await at.plugin(['remove', 'hostile']);
    const many = Array.from({ length: 41 }, (_, index) => `many-things-${String(index).padStart(3, '0')}`);
    at.registry.publish(...many.map((one) => ({ name: one })), pluginPublication(name, 'hostile', { version: '1.0.1', manifest: { dependencies: Object.fromEntries(many.map((one) => [one, '*'])) } }));
    await needsAccepting('count');
  });

  it('that is built from source needs accepting, and is not built', async () => {
    at.registry.publish(pluginPublication(name, 'hostile', { files: { 'binding.gyp': '{"targets":[{"target_name":"x","actions":[{"action":["touch","x"]}]}]}' } }));
    await needsAccepting('native');
  });

  it('with the id of a built-in plugin, or of another plugin, is refused', async () => {
    at.registry.publish(pluginPublication(name, 'permissions'));
    await refused(/"permissions" is the id of a built-in plugin/);
    at.registry.publish(pluginPublication('agent-plugin-first', 'hostile'), pluginPublication(name, 'hostile', { version: '1.0.1' }));
    await at.plugin(['add', 'agent-plugin-first', '--yes']);
    const before = at.lockText();
    const { code, stderr } = await at.plugin(['add', name, '--yes']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('"hostile" was already added from the npm registry (agent-plugin-first)')]);
    expect(at.lockText()).toBe(before);
  });

  it.each([
    ['a git address', 'git+https://example.org/x.git'],
    ['a hosted repository', 'someone/thing'],
    ['a URL', 'https://example.org/x.tgz'],
    ['a file', 'file:../../../etc'],
    ['a link', 'link:../x'],
    ['another name', 'npm:other@1.0.0'],
    ['a tag', 'latest'],
  ])('that depends on %s is refused, itself or deeper down', async (_, spec) => {
    at.registry.publish({ name: 'other' }, { name: 'inner' }, { name: 'middle-package', manifest: { dependencies: { inner: spec } } });
    at.registry.publish(pluginPublication(name, 'hostile', { manifest: { dependencies: { inner: spec } } }));
    await refused(/depends on what is no version|is a git address|is a URL|is a file|stands for something else/);
    at.registry.publish(pluginPublication(name, 'hostile', { version: '1.0.1', manifest: { dependencies: { 'middle-package': '*' } } }));
    await refused(/depends on what is no version|is a git address|is a URL|is a file|stands for something else|cannot be worked out/);
  });

  it('that tells the registry something else than it holds is taken at what it holds', async () => {
    // The registry shows no capabilities and no dependencies; the tarball has both.
    at.registry.publish({ name: 'shown-nowhere' }, { ...pluginPublication(name, 'hostile', { agent: { capabilities: ['exec'] }, manifest: { dependencies: { 'shown-nowhere': '*' } } }), told: { agent: { id: 'hostile' }, dependencies: {} } });
    const { stdout } = await at.plugin(['add', name, '--dry-run', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ capabilities: ['exec'], packages: [{ name }, { name: 'shown-nowhere' }] });
    at.registry.publish({ ...pluginPublication(name, 'hostile', { version: '1.0.1' }), tarball: packageTarball({ 'package.json': packageJson({ name: 'somebody-else', version: '1.0.1' }), 'index.ts': '' }) });
    await refused(/calls itself somebody-else/);
  });

  it('that bundles packages of its own has them from the registry, or not at all', async () => {
    const bundled = { 'package.json': packageJson({ dependencies: { inner: '*' }, bundleDependencies: ['inner'] }), 'index.ts': pluginCode('hostile', 'inner', "import inner from 'inner';"), 'node_modules/inner/package.json': '{"name":"inner","version":"6.6.6"}', 'node_modules/inner/index.js': "module.exports = 'smuggled'" };
    at.registry.publish({ name: 'inner', files: { 'index.js': "module.exports = 'from the registry'" } }, { name, tarball: packageTarball(bundled), told: { dependencies: { inner: '*' }, bundleDependencies: ['inner'] } });
    expect((await at.plugin(['add', name, '--yes'])).code).toBe(0);
    expect((await at.agent(['hostile'])).stdout).toBe('from the registry\n');
  });

  it('that is no plugin, or one for another agent, is refused', async () => {
    at.registry.publish({ name, files: { 'index.js': '' } });
    await refused(/has no "agent" part/);
    at.registry.publish(pluginPublication(name, 'hostile', { version: '1.0.1', agent: { engine: '^9' } }));
    await refused(/needs newt-agent \^9/);
    at.registry.publish(pluginPublication(name, 'hostile', { version: '1.0.2', agent: { capabilities: ['everything'] } }));
    await refused(/must be exec, net/);
    at.registry.publish(pluginPublication(name, 'hostile', { version: '1.0.3', agent: { main: '../other/index.ts' } }));
    await refused(/does not exist/);
    at.registry.publish(pluginPublication(name, 'hostile', { version: '1.0.4', agent: { main: '../../../../../../../../../../etc/hostname' } }));
    await refused(/leads out of the package|does not exist/);
  });

  it('whose name is almost that of another needs accepting', async () => {
    at.registry.publish(pluginPublication('lodahs', 'hostile'), { name: 'chalck' }, pluginPublication(name, 'hostile', { manifest: { dependencies: { chalck: '*' } } }));
    await needsAccepting('name');
    await at.plugin(['remove', 'hostile']);
    await needsAccepting('name', ['add', 'lodahs']);
  });
});

describe('an address', () => {
  it.each(['git+https://example.org/x.git', 'github:someone/thing', 'someone/thing', 'https://example.org/x.tgz', 'file:./x', 'x@npm:y@1', 'x@latest', 'git@example.org:x/y.git'])('%s is refused with what to do', async (source) => {
    const { code, stderr } = await at.plugin(['add', source, '--yes']);
    expect(stderr).toMatch(/^agent: .+\n {2}.+/);
    expect(code).toBe(2);
    expect(at.registry.requests).toEqual([]);
  });
});

describe('an update', () => {
  async function updated(second: Parameters<typeof pluginPublication>[2], first: Parameters<typeof pluginPublication>[2] = {}): Promise<{ code: number | null; stderr: string }> {
    at.registry.publish(pluginPublication(name, 'hostile', first));
    expect((await at.plugin(['add', name, '--yes'])).code).toBe(0);
    at.registry.publish(pluginPublication(name, 'hostile', { version: '1.1.0', ...second }));
    return at.plugin(['update', 'hostile', '--yes']);
  }

  it('that asks for more is not taken by --yes alone', async () => {
    const { code, stderr } = await updated({ agent: { capabilities: ['exec'] } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('it now also asks for exec (run programs)')]);
    expect(stderr).toContain('+ asks for exec');
    expect(at.entries()['hostile']).toMatchObject({ version: '1.0.0', capabilities: [] });
    expect(await at.plugin(['update', 'hostile', '--yes', '--accept', 'capabilities'])).toMatchObject({ code: 0 });
    expect(at.entries()['hostile']).toMatchObject({ version: '1.1.0', capabilities: ['exec'], previous: { version: '1.0.0', capabilities: [] } });
  });

  it('by somebody else needs accepting', async () => {
    expect(await updated({ publisher: 'mallory' })).toMatchObject({ code: 2, stderr: expect.stringContaining('now published by mallory, before by ann') });
    expect(at.entries()['hostile']).toMatchObject({ version: '1.0.0' });
  });

  it('that lost its attestation needs accepting', async () => {
    expect(await updated({}, { attested: true })).toMatchObject({ code: 2, stderr: expect.stringContaining('no longer shows an attestation') });
  });

  it('that is young, or that became another plugin, is not taken', async () => {
    expect(await updated({ daysAgo: 1 })).toMatchObject({ code: 0 });
    expect(at.entries()['hostile']).toMatchObject({ version: '1.0.0' });
    at.registry.publish(pluginPublication(name, 'another', { version: '1.2.0' }));
    expect(await at.plugin(['update', '--all', '--yes'])).toMatchObject({ code: 2, stderr: expect.stringContaining('calls itself "another"') });
  });

  it('of a version that has other content now is refused', async () => {
    at.registry.publish(pluginPublication(name, 'hostile'));
    await at.plugin(['add', name, '--yes']);
    const before = at.lockText();
    at.registry.publish(pluginPublication(name, 'hostile', { files: { 'index.ts': `${pluginCode('hostile')}// other` } }));
    const { code, stderr } = await at.plugin(['update', 'hostile']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('other content')]);
    expect(at.lockText()).toBe(before);
  });
});

describe('the installer that a repair asks', () => {
  const asking = (packages: object): Record<string, string> => ({
    'asker/package.json': JSON.stringify({ name: 'asker', version: '1.0.0', dependencies: { declared: '^1.0.0' }, agent: { id: 'asker', activateOn: ['commands'] } }),
    'asker/index.ts': `import { definePlugin, installer } from 'newt-agent';
      export default definePlugin({}, (p) => ({ commands: {
        ask: { description: 'asks', async run(_, { io, signal }) {
          await p.activate('onInstall');
          try { io.json((await p.use(installer).install({ plugin: 'asker', packages: ${JSON.stringify(packages)}, signal })).installed); } catch (error) { io.print(error.message); }
          return 0;
        } },
        undo: { description: 'asks, and takes it back', async run(_, { signal }) {
          await p.activate('onInstall');
          await (await p.use(installer).install({ plugin: 'asker', packages: ${JSON.stringify(packages)}, signal })).undo();
          return 0;
        } },
      } }));`,
  });
  const modules = (): string => join(at.place.home, 'config', 'plugins', 'asker', 'node_modules');

  it.each([
    ['undeclared', { undeclared: '1.0.0' }, /does not declare undeclared/],
    ['declared otherwise', { declared: '2.0.0' }, /which 2\.0\.0 is not/],
    ['a git address', { declared: 'git+https://example.org/x.git' }, /no version of a package/],
    ['young', { declared: '1.9.0' }, /young/],
  ])('installs nothing that is %s', async (_, packages, reason) => {
    at.registry.publish({ name: 'undeclared' }, { name: 'declared' }, { name: 'declared', version: '1.9.0', daysAgo: 1 }, { name: 'declared', version: '2.0.0' });
    at.place.plugins(asking(packages));
    expect((await at.agent(['ask'])).stdout).toMatch(reason);
    expect(existsSync(modules()) ? readdirSync(modules()).filter((one) => !one.startsWith('.')) : []).toEqual([]);
  });

  it('installs what is declared, with all it needs below itself, and takes it back', async () => {
    at.registry.publish({ name: 'deeper' }, { name: 'declared', version: '1.2.0', manifest: { dependencies: { deeper: '*' } } }, { name: 'declared', version: '1.9.0', daysAgo: 1 });
    at.place.plugins(asking({ declared: '^1.0.0' }));
    expect(JSON.parse((await at.agent(['ask'])).stdout)).toEqual({ declared: '1.2.0' });
    expect(readFileSync(join(modules(), 'declared', 'node_modules', 'deeper', 'package.json'), 'utf8')).toContain('deeper');
    const file = join(modules(), 'declared', 'package.json');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, '{ damaged');
    expect((await at.agent(['undo'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('{ damaged');
    expect(JSON.parse((await at.agent(['ask'])).stdout)).toEqual({ declared: '1.2.0' });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});
