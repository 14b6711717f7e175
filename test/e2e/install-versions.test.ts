/** What comes after adding: updates, the way back, and the same tree on another machine. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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

const name = 'agent-plugin-moving';

function publish(version: string, agent: object = {}, daysAgo = 400): void {
  at.registry.publish(
    { name: 'moving-part', version, daysAgo, files: { 'index.js': `module.exports = 'part ${version}';\n` } },
    pluginPublication(name, 'moving', { version, daysAgo, agent: { activateOn: ['commands'], ...agent }, manifest: { dependencies: { 'moving-part': version } }, files: { 'index.ts': pluginCode('moving', 'part', "import part from 'moving-part';") } }),
  );
}
const said = async (): Promise<string> => (await at.agent(['moving'])).stdout;

describe('an update', () => {
  it('shows what changes, keeps the version before, and can be taken back and again', async () => {
    publish('1.0.0');
    await at.plugin(['add', `${name}@^1.0.0`, '--yes']);
    publish('1.1.0', { capabilities: ['net'] });
    publish('2.0.0');
    publish('1.2.0', {}, 1);
    const outdated = await at.plugin(['outdated', '--json']);
    expect(JSON.parse(outdated.stdout)).toEqual([{ id: 'moving', installed: '1.0.0', update: '1.1.0', latest: '2.0.0' }]);
    expect((await at.plugin(['outdated'])).stdout).toMatch(/moving +1\.0\.0 +1\.1\.0 +2\.0\.0/);

    const dry = await at.plugin(['update', '--all', '--dry-run']);
    expect(dry.stderr).toContain('Against 1.0.0, which is installed:\n  + asks for net (use the network)\n  ~ agent-plugin-moving 1.0.0 to 1.1.0\n  ~ moving-part 1.0.0 to 1.1.0');
    expect(at.entries()['moving']).toMatchObject({ version: '1.0.0' });

    const updated = await at.plugin(['update', 'moving', '--yes', '--accept', 'capabilities']);
    expect(updated).toMatchObject({ code: 0, stdout: 'Updated moving from 1.0.0 to 1.1.0\n' });
    expect(await said()).toBe('part 1.1.0\n');
    expect(at.entries()['moving']).toMatchObject({ version: '1.1.0', previous: { version: '1.0.0' } });
    expect((await at.plugin(['update', '--all'])).stdout).toBe('moving 1.1.0 is up to date\n');

    await at.registry.close();
    expect(await at.plugin(['rollback', 'moving'])).toMatchObject({ code: 0, stdout: 'moving is at 1.0.0 again, it was at 1.1.0\n' });
    expect(await said()).toBe('part 1.0.0\n');
    expect((await at.plugin(['rollback', 'moving'])).stdout).toContain('at 1.1.0 again');
    expect(await said()).toBe('part 1.1.0\n');
  });

  it('of a linked folder, of nothing, or of what is not there is told', async () => {
    at.place.write({ 'linked/package.json': '{"name":"linked","version":"1.0.0","agent":{"id":"linked"}}', 'linked/index.ts': pluginCode('linked') });
    await at.plugin(['add', './linked', '--yes']);
    expect(await at.plugin(['update', 'linked'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is used where it lies') });
    expect(await at.plugin(['update'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--all') });
    expect(await at.plugin(['update', 'linkd'])).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "linked"') });
    expect(await at.plugin(['update', '--all'])).toMatchObject({ code: 0 });
    expect(await at.plugin(['rollback', 'linked'])).toMatchObject({ code: 2 });
  });

  it('of all goes on where one of them cannot be updated', async () => {
    publish('1.0.0');
    at.registry.publish(pluginPublication('agent-plugin-bad', 'bad'));
    await at.plugin(['add', name, '--yes']);
    await at.plugin(['add', 'agent-plugin-bad', '--yes']);
    publish('1.1.0');
    at.registry.publish(pluginPublication('agent-plugin-bad', 'bad', { version: '1.1.0', publisher: 'mallory' }));
    const { code, stdout, stderr } = await at.plugin(['update', '--all', '--yes', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual([{ id: 'bad', from: '1.0.0', to: '1.0.0', result: 'failed' }, { id: 'moving', from: '1.0.0', to: '1.1.0', result: 'updated' }]);
    expect(stderr).toContain('bad was not updated');
  });

  it('goes back also where the tree of the version before is gone', async () => {
    publish('1.0.0');
    await at.plugin(['add', name, '--yes']);
    publish('1.1.0');
    await at.plugin(['update', 'moving', '--yes']);
    const previous = readFileSync(join(at.place.home, 'data', 'agent-plugins.lock'), 'utf8');
    expect(previous).toContain('"previous"');
    rmSync(join(at.place.home, 'data', 'plugins', 'moving'), { recursive: true });
    expect((await at.plugin(['rollback', 'moving'])).code).toBe(0);
    expect(await said()).toBe('part 1.0.0\n');
  });
});

describe('the same lock file on another machine', () => {
  it('gives the same tree, byte for byte, though there are newer versions', async () => {
    publish('1.0.0', { capabilities: ['net'] });
    await at.plugin(['add', name, '--yes']);
    publish('1.1.0');
    await using other = await openInstallPlace({ registry: at.registry.url });
    mkdirSync(join(other.place.home, 'data'));
    cpSync(join(at.place.home, 'data', 'agent-plugins.lock'), join(other.place.home, 'data', 'agent-plugins.lock'));
    expect((await other.plugin(['list'])).stdout).toContain('is not installed on this machine. To fix it: run: agent plugin sync');
    expect((await other.plugin(['sync'])).code).toBe(2);
    expect(await other.plugin(['sync', '--yes'])).toMatchObject({ code: 0, stdout: 'Installed moving 1.0.0\n' });
    expect((await other.agent(['moving'])).stdout).toBe('part 1.0.0\n');
    expect(other.lockText()).toBe(at.lockText());
    expect((await other.plugin(['sync'])).stdout).toBe('Everything is as the lock file states it.\n');
  });
});

describe('a plugin of a project', () => {
  it('is stated in the project without a path of this machine, and runs only once the project is trusted', async () => {
    publish('1.0.0');
    at.place.write({ '.agent/vendor/local.tgz': packageTarball({ 'package.json': JSON.stringify({ name: 'local-one', version: '1.0.0', agent: { id: 'local', activateOn: ['commands'] } }), 'index.ts': pluginCode('local') }) });
    expect((await at.plugin(['add', name, '--yes', '--project'])).code).toBe(0);
    expect((await at.plugin(['add', './.agent/vendor/local.tgz', '--yes', '--project'])).code).toBe(0);
    const lock = join(at.place.workspace, '.agent', 'agent-plugins.lock');
    const text = readFileSync(lock, 'utf8');
    expect(text).toContain('"asked": "vendor/local.tgz"');
    expect(text).not.toMatch(/"\/|127\.0\.0\.1/);
    expect((await at.agent(['moving'])).code).toBe(2);
    expect((await at.agent(['trust', 'status'])).stdout).toContain('moving: asks for nothing (agent-plugin-moving 1.0.0');
    expect((await at.agent(['trust', 'grant'])).code).toBe(0);
    expect(await said()).toBe('part 1.0.0\n');
    expect((await at.agent(['local'])).stdout).toBe('hello from local\n');

    // Another machine: the repository alone.
    await using other = await openInstallPlace({ registry: at.registry.url });
    cpSync(join(at.place.workspace, '.agent'), join(other.place.workspace, '.agent'), { recursive: true });
    expect((await other.plugin(['sync', '--project', '--yes'])).code).toBe(0);
    await other.agent(['trust', 'grant']);
    expect((await other.agent(['moving'])).stdout).toBe('part 1.0.0\n');

    // What changes in the lock file needs a new grant.
    writeFileSync(lock, text.replace('"asked": "agent-plugin-moving"', '"asked": "agent-plugin-moving@^1"'));
    expect((await at.agent(['moving'])).code).toBe(2);
    await at.agent(['trust', 'grant']);
    expect(await at.plugin(['remove', 'moving'])).toMatchObject({ code: 2, stderr: expect.stringContaining('agent plugin remove moving --project') });
    expect((await at.plugin(['remove', 'moving', '--project'])).code).toBe(0);
    expect(readFileSync(lock, 'utf8')).not.toContain('moving');
  });

  it('is no folder of this machine, and no file beside the project', async () => {
    mkdirSync(join(at.place.workspace, '.agent'));
    at.place.write({ 'outside.tgz': packageTarball({ 'package.json': '{"name":"outside","version":"1.0.0","agent":{}}', 'index.ts': '' }) });
    expect(await at.plugin(['add', '.', '--project'])).toMatchObject({ code: 2, stderr: expect.stringContaining('.agent/plugins') });
    expect(await at.plugin(['add', './outside.tgz', '--project', '--yes'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is not in the project') });
    expect(existsSync(join(at.place.workspace, '.agent', 'agent-plugins.lock'))).toBe(false);
  });
});

describe('a lock file of version 1', () => {
  it('is read, and upgraded with the next change', async () => {
    publish('1.0.0');
    at.place.write({ 'old/package.json': '{"name":"old","version":"1.0.0","agent":{"id":"old","activateOn":["commands"]}}', 'old/index.ts': pluginCode('old') });
    await at.plugin(['add', './old', '--yes']);
    const lock = join(at.place.home, 'data', 'agent-plugins.lock');
    writeFileSync(lock, at.lockText().replace('"version": 2', '"version": 1'));
    expect((await at.agent(['old'])).stdout).toBe('hello from old\n');
    await at.plugin(['add', name, '--yes']);
    expect(JSON.parse(at.lockText())).toMatchObject({ version: 2, plugins: { old: { source: 'link' }, moving: { source: 'npm' } } });
  });
});
