/** Adding, running and removing plugins of an npm registry, with the built command. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readJournal } from '../../registry/install/journal.ts';
import { type InstallPlace, openInstallPlace } from '../support/install-place.ts';
import { pluginCode, pluginPublication } from '../support/npm-registry.ts';
import { packageTarball } from '../support/tarball.ts';

// Each of these starts many processes, one after the other.
vi.setConfig({ testTimeout: 180_000 });

let at: InstallPlace;
beforeEach(async () => {
  at = await openInstallPlace();
});
afterEach(() => at[Symbol.asyncDispose]());

/** `greeter`, which needs `words`, which needs `letters`. */
function publishGreeter(version = '1.0.0', agent: object = {}): void {
  at.registry.publish(
    { name: 'letters', files: { 'index.js': "module.exports = 'abc';\n" } },
    { name: 'words', manifest: { dependencies: { letters: '^1.0.0' } }, files: { 'index.js': "module.exports = 'words of ' + require('letters');\n" } },
    pluginPublication('agent-plugin-greeter', 'greeter', {
      version,
      agent: { activateOn: ['command:greeter', 'commands'], ...agent },
      manifest: { dependencies: { words: '^1.0.0' }, peerDependencies: { 'newt-agent': '*', zod: '*' } },
      files: { 'index.ts': pluginCode('greeter', `'${version} ' + words`, "import words from 'words';") },
    }),
  );
}

describe('a plugin of the registry', () => {
  it('is planned, added with what it needs, runs, and is gone without a trace', async () => {
    publishGreeter();
    const dry = await at.plugin(['add', 'agent-plugin-greeter', '--dry-run']);
    expect(dry).toMatchObject({ code: 0, stdout: '' });
    expect(dry.stderr).toContain('3 packages');
    expect(dry.stderr).toContain('could not be verified');
    expect(at.lockText()).toBe('');

    const added = await at.plugin(['add', 'agent-plugin-greeter', '--yes']);
    expect(added.stderr).not.toContain('agent: ');
    expect(added).toMatchObject({ code: 0, stdout: 'Added greeter 1.0.0 (agent-plugin-greeter)\n' });
    const entry = at.entries()['greeter'];
    expect(entry).toMatchObject({ source: 'npm', asked: 'agent-plugin-greeter', version: '1.0.0', publisher: 'ann' });
    expect(Object.keys(entry?.source === 'npm' ? entry.packages : {})).toEqual(['node_modules/agent-plugin-greeter', 'node_modules/letters', 'node_modules/words']);
    expect(at.lockText()).not.toContain('127.0.0.1');
    expect(await at.agent(['greeter'])).toMatchObject({ code: 0, stdout: '1.0.0 words of abc\n' });

    expect((await at.plugin(['add', 'agent-plugin-greeter', '--yes'])).stdout).toContain('Unchanged: greeter');
    expect(await at.plugin(['remove', 'greeter'])).toMatchObject({ code: 0, stdout: 'Removed greeter\n' });
    expect(at.entries()).toEqual({});
    expect(at.leftovers()).toEqual([]);
    expect(readJournal(join(at.place.home, 'data', 'plugins', 'journal.jsonl')).map(({ action, state }) => action ?? state)).toEqual(['add', 'done', 'remove', 'done']);
  });

  it('needs a question or --yes', async () => {
    publishGreeter();
    const { code, stderr } = await at.plugin(['add', 'agent-plugin-greeter']);
    expect(stderr).toContain('--yes goes on without asking');
    expect(code).toBe(2);
    expect(at.lockText()).toBe('');
    expect(at.leftovers()).toEqual([]);
  });

  it('is planned as JSON', async () => {
    publishGreeter('1.0.0', { capabilities: ['exec'] });
    const { code, stdout } = await at.plugin(['add', 'agent-plugin-greeter@^1', '--dry-run', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: true, id: 'greeter', asked: 'agent-plugin-greeter@^1', capabilities: ['exec'], concerns: [], publisher: 'ann', ageDays: 400, packages: [{ name: 'agent-plugin-greeter' }, { name: 'letters' }, { name: 'words' }] });
  });

  it('is installed again from the cache while the registry is down', async () => {
    publishGreeter();
    await at.plugin(['add', 'agent-plugin-greeter', '--yes']);
    await at.plugin(['remove', 'greeter']);
    await at.registry.close();
    const down = await at.plugin(['add', 'agent-plugin-greeter', '--yes']);
    expect(down).toMatchObject({ code: 0 });
    expect(down.stderr).toContain('The registry cannot be reached');
    await at.plugin(['remove', 'greeter']);
    expect(await at.plugin(['add', 'agent-plugin-greeter', '--yes', '--offline'])).toMatchObject({ code: 0 });
    expect(await at.agent(['greeter'])).toMatchObject({ stdout: '1.0.0 words of abc\n' });
    const unknown = await at.plugin(['add', 'agent-plugin-other', '--yes']);
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain('cannot be reached');
  });

  it('whose tree is gone or damaged is reported, and put back', async () => {
    publishGreeter();
    await at.plugin(['add', 'agent-plugin-greeter', '--yes']);
    const trees = join(at.place.home, 'data', 'plugins', 'greeter');
    const tree = join(trees, readdirSync(trees)[0] ?? '');
    const entry = at.entries()['greeter'];
    rmSync(tree, { recursive: true });
    expect((await at.plugin(['list'])).stdout).toContain('agent plugin sync');
    expect((await at.plugin(['add', 'agent-plugin-greeter'])).stdout).toContain('Mended greeter');
    writeFileSync(join(tree, 'node_modules', 'words', 'index.js'), 'module.exports = "tampered"');
    expect((await at.agent(['doctor'])).stdout).toMatch(/greeter: its files in .* are not the ones you agreed to/);
    expect((await at.plugin(['add', 'agent-plugin-greeter'])).stdout).toContain('Mended greeter');
    expect(readFileSync(join(tree, 'node_modules', 'words', 'index.js'), 'utf8')).toContain('words of');
    expect(at.entries()['greeter']).toEqual(entry);
    expect(at.leftovers().filter((file) => !file.startsWith(tree))).toEqual([]);
  });
});

describe('what it needs', () => {
  it('is installed only where it fits this machine, and for peers as well', async () => {
    at.registry.publish(
      { name: 'elsewhere-only', manifest: { os: ['plan9'] } },
      { name: '@acme/beside-it' },
      { name: 'twice', version: '1.0.0', files: { 'index.js': 'module.exports = 1;' } },
      { name: 'twice', version: '2.0.0', files: { 'index.js': 'module.exports = 2;' } },
      { name: 'old-user', manifest: { dependencies: { twice: '^1.0.0' } }, files: { 'index.js': "module.exports = require('twice');" } },
      pluginPublication('@acme/agent-plugin-picky', 'picky', {
        agent: { activateOn: ['commands'] },
        manifest: { dependencies: { twice: '^2.0.0', 'old-user': '*', zod: '^3.0.0' }, optionalDependencies: { 'elsewhere-only': '*' }, peerDependencies: { '@acme/beside-it': '*', 'newt-agent': '*' } },
        files: { 'index.ts': pluginCode('picky', '[two, old]', "import two from 'twice';\nimport old from 'old-user';") },
      }),
    );
    expect((await at.plugin(['add', '@acme/agent-plugin-picky@^1', '--yes'])).code).toBe(0);
    const entry = at.entries()['picky'];
    expect(Object.keys(entry?.source === 'npm' ? entry.packages : {})).toEqual(['node_modules/@acme/agent-plugin-picky', 'node_modules/@acme/beside-it', 'node_modules/old-user', 'node_modules/old-user/node_modules/twice', 'node_modules/twice']);
    expect((await at.agent(['picky'])).stdout).toBe('2,1\n');
  });
});

describe('a tarball', () => {
  it('is added as a copy, with its dependencies from the registry', async () => {
    publishGreeter();
    const packageJson = { name: 'local-one', version: '2.0.0', type: 'module', agent: { id: 'local', activateOn: ['commands'] }, dependencies: { words: '*' } };
    at.place.write({ 'local.tgz': packageTarball({ 'package.json': JSON.stringify(packageJson), 'index.ts': pluginCode('local', 'words', "import words from 'words';") }) });
    expect(await at.plugin(['add', './local.tgz', '--yes'])).toMatchObject({ code: 0, stdout: 'Added local 2.0.0 (local-one)\n' });
    rmSync(join(at.place.workspace, 'local.tgz'));
    expect(await at.agent(['local'])).toMatchObject({ stdout: 'words of abc\n' });
  });
});

it('no start loads what installs', () => {
  const dist = join(import.meta.dirname, '..', '..', 'dist');
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, specifier = ''] of text.matchAll(/(?:from|^import|;import)\s*["`]([^"`]+)["`]/gm)) {
      expect(specifier).not.toMatch(/^(pacote|@npmcli|cacache|tar)/);
      if (specifier.startsWith('.')) visit(join(dirname(file), specifier));
    }
  };
  visit(join(dist, 'main.js'));
  expect(seen.size).toBeGreaterThan(1);
  // It is there, for those that ask.
  expect(readdirSync(join(dist, 'chunks')).some((name) => name.endsWith('.js') && readFileSync(join(dist, 'chunks', name), 'utf8').includes("import(`pacote`)"))).toBe(true);
});

describe('removing', () => {
  it('takes settings, state, log and records along, and refuses while somebody needs it', async () => {
    publishGreeter();
    at.registry.publish(pluginPublication('agent-plugin-fan', 'fan', { agent: { requires: { plugins: { greeter: '*' } } } }));
    await at.plugin(['add', 'agent-plugin-greeter', '--yes']);
    await at.plugin(['add', 'agent-plugin-fan', '--yes']);
    const kept = await at.plugin(['remove', 'greeter', '--yes']);
    expect(kept.code).toBe(2);
    expect(kept.stderr).toContain('fan needs greeter');
    expect((await at.plugin(['remove', 'fan'])).code).toBe(0);
    const state = join(at.place.home, 'state');
    at.place.write({ '../home/state/plugins/greeter.json': '{}', '../home/state/logs/greeter.log': 'x', '../home/state/health/greeter-0123456789abcdef.json': '{}', '../home/state/health/greeter-two-0123456789abcdef.json': '{}' });
    const config = join(at.place.home, 'config', 'config.yaml');
    writeFileSync(config, `${readFileSync(config, 'utf8')}plugins: { config: { greeter: { loud: true } } }\n`);
    expect((await at.plugin(['remove', 'greeter', '--yes'])).code).toBe(0);
    expect(readFileSync(config, 'utf8')).not.toContain('loud');
    expect(['plugins/greeter.json', 'logs/greeter.log', 'health/greeter-0123456789abcdef.json', 'health/greeter-two-0123456789abcdef.json'].map((file) => existsSync(join(state, file)))).toEqual([false, false, false, true]);
  });
});
