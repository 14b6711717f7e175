import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, boot, type Place, place, type RunOptions } from './commands.testing.ts';
import { readLock } from './lock.ts';

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.remove());

async function add(folder: string, rest: Omit<RunOptions, 'arguments'> = { options: { yes: true } }): Promise<Answer> {
  await using agent = await boot(at);
  return agent.run('plugin add', { arguments: { source: folder }, ...rest });
}

async function stateOf(id: string): Promise<{ state: string; reason: string | undefined } | undefined> {
  await using agent = await boot(at);
  return agent.kernel.plugins().find((plugin) => plugin.id === id);
}

describe('a plugin folder', () => {
  it('is recorded in the lock file and loaded from where it lies at the next start', async () => {
    const folder = at.plugin('src/hello', { id: 'hello', capabilities: ['net'] });
    const { code, out, err } = await add(folder);
    expect(code).toBe(0);
    expect(out).toBe(`Added hello 1.2.3 (${folder})`);
    expect(err).toContain('loaded from that folder at the next start');
    expect(readLock(at.lock)).toEqual({
      hello: { source: 'link', path: folder, version: '1.2.3', contentDigest: expect.stringMatching(/^[0-9a-f]{64}$/), capabilities: ['net'], addedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    expect(await stateOf('hello')).toMatchObject({ state: 'activated', tier: 'npm', path: folder });
  });

  it('is recorded by its real path', async () => {
    const folder = at.plugin('src/hello', { id: 'hello' });
    symlinkSync(folder, join(at.root, 'alias'));
    expect((await add(join(at.root, 'alias'))).code).toBe(0);
    expect(readLock(at.lock)['hello']).toMatchObject({ path: folder });
  });

  it('is shown before it is added, with what it asks for in words', async () => {
    const folder = at.plugin('src/hello', { id: 'hello', capabilities: ['exec', 'env:HELLO_KEY', 'gate:tool.gate'] });
    const { code, err, questions } = await add(folder, { confirm: true });
    expect(code).toBe(0);
    expect(questions).toEqual(['Add hello?']);
    expect(err).toContain(`  folder    ${folder}`);
    expect(err).toContain('  asks for  exec (run programs), env:HELLO_KEY (read the variable HELLO_KEY), gate:tool.gate (allow or deny at tool.gate)');
    expect(err).toContain('not a sandbox');
  });

  it('is not added when the person says no', async () => {
    const { code, err } = await add(at.plugin('src/hello', { id: 'hello' }), { confirm: false });
    expect(code).toBe(1);
    expect(err).toContain('Nothing was changed.');
    expect(existsSync(at.lock)).toBe(false);
  });

  it('is not added when nobody can be asked', async () => {
    const { code, err } = await add(at.plugin('src/hello', { id: 'hello' }), {});
    expect(code).toBe(2);
    expect(err).toContain('agent: nobody can be asked whether to add hello\n  --yes adds it without asking');
    expect(existsSync(at.lock)).toBe(false);
  });

  it('is told as JSON', async () => {
    const folder = at.plugin('src/hello', { id: 'hello' });
    const { json, out } = await add(folder, { options: { yes: true, json: true } });
    expect(json).toMatchObject({ id: 'hello', source: 'link', path: folder, version: '1.2.3', capabilities: [] });
    expect(out).toBe('');
  });

  it('without a manifest says that what it asks for is not known', async () => {
    const file = at.write('bare/index.ts', "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'told' }, () => ({}));\n");
    const { code, err } = await add(join(file, '..'), { confirm: true });
    expect(code).toBe(0);
    expect(err).toContain('what its code says: no package.json states it');
    expect(readLock(at.lock)).toMatchObject({ bare: { capabilities: null } });
    expect(await stateOf('told')).toMatchObject({ state: 'activated' });
    await using agent = await boot(at);
    expect((await agent.run('plugin remove', { arguments: { id: 'told' } })).code).toBe(0);
    expect(readLock(at.lock)).toEqual({});
  });
});

describe('what cannot be added', () => {
  it.each([
    ['', /^agent: '' does not exist/],
    ['./nowhere', /^agent: \.\/nowhere does not exist\n {2}give the path of a plugin folder/],
    ['file', /is a file, and only folders and .tgz files can be added\n {2}.*config\/plugins/],
    ['empty', /holds no plugin: neither a package.json with an "agent" part nor an index.ts/],
    ['unknown-key', /package.json: agent.capabilites: unknown key; did you mean "capabilities"\?/],
    ['no-json', /package.json: JSON: /],
    ['no-main', /agent.main: missing.ts does not exist/],
    ['engine', /old needs newt-agent \^9, this is 0.1.0/],
    ['squatter', /"registry" is the id of a built-in plugin/],
  ])('%j', async (name, message) => {
    at.write('file', '');
    mkdirSync(join(at.root, 'empty'));
    at.plugin('unknown-key', { id: 'x', capabilites: [] });
    at.write('no-json/package.json', '{');
    at.plugin('no-main', { id: 'x', main: 'missing.ts' });
    at.plugin('engine', { id: 'old', engine: '^9' });
    at.plugin('squatter', { id: 'registry' });
    const { code, err } = await add(['', './nowhere'].includes(name) ? name : join(at.root, name));
    expect(err).toMatch(message);
    expect(code).toBe(2);
    expect(existsSync(at.lock)).toBe(false);
  });

  it('is an id that was added from elsewhere', async () => {
    const first = at.plugin('one', { id: 'hello' });
    await add(first);
    const { code, err } = await add(at.plugin('two', { id: 'hello' }));
    expect(code).toBe(2);
    expect(err).toContain(`"hello" was already added from ${first}`);
    expect(err).toContain('agent plugin remove hello');
    expect(readLock(at.lock)['hello']).toMatchObject({ path: first });
  });

  it('is an id that somebody else added while the question stood', async () => {
    const [mine, theirs] = [at.plugin('mine', { id: 'hello' }), at.plugin('theirs', { id: 'hello' })];
    const { code } = await add(mine, { confirm: async () => (await add(theirs)).code === 0 });
    expect(code).toBe(2);
    expect(readLock(at.lock)['hello']).toMatchObject({ path: theirs });
  });
});

describe('adding again', () => {
  it('asks nothing and says whether it changed', async () => {
    const folder = at.plugin('hello', { id: 'hello' });
    await add(folder);
    const before = readLock(at.lock)['hello'];
    expect((await add(folder, {})).out).toContain('Unchanged: hello');
    expect(readLock(at.lock)['hello']).toEqual(before);
    at.write('hello/index.ts', '// changed');
    expect((await add(folder, {})).out).toContain('Updated hello');
    expect(readLock(at.lock)['hello']?.contentDigest).not.toBe(before?.contentDigest);
  });

  it('asks for what was not agreed to before, and only then', async () => {
    const folder = at.plugin('hello', { id: 'hello', capabilities: ['net'] });
    await add(folder);
    at.plugin('hello', { id: 'hello', capabilities: ['net', 'exec'] });
    expect(await stateOf('hello')).toMatchObject({ state: 'refused', reason: expect.stringContaining('asks for more than you agreed to: exec') });
    const { err, questions } = await add(folder, { confirm: true });
    expect(questions).toEqual(['Agree to this for hello?']);
    expect(err).toContain('  also asks for  exec (run programs)');
    expect(await stateOf('hello')).toMatchObject({ state: 'activated' });
  });

  it('under a new id takes the place of the old one', async () => {
    const folder = at.plugin('hello', { id: 'hello' });
    await add(folder);
    at.plugin('hello', { id: 'hallo' });
    expect(await stateOf('hello')).toMatchObject({ state: 'refused', reason: expect.stringContaining('now calls itself "hallo"') });
    await add(folder);
    expect(Object.keys(readLock(at.lock))).toEqual(['hallo']);
  });
});

describe('what the person is told to expect', () => {
  it('names the plugin that shadows it', async () => {
    at.plugin('home/config/plugins/hello', { id: 'hello' });
    expect((await add(at.plugin('hello', { id: 'hello' }))).err).toContain(`The global plugin at ${join(at.paths.config, 'plugins/hello')} has the same id and shadows it`);
  });

  it('names the setting that turns it off', async () => {
    at.write('home/config/config.yaml', 'plugins:\n  disabled: [hello]\n');
    expect((await add(at.plugin('hello', { id: 'hello' }))).err).toContain('plugins.disabled in your configuration names it');
  });
});

describe('a linked folder', () => {
  it('that is gone is reported, with what to do', async () => {
    const folder = at.plugin('hello', { id: 'hello' });
    await add(folder);
    rmSync(folder, { recursive: true });
    expect(await stateOf('hello')).toMatchObject({ state: 'refused', reason: `the linked folder ${folder} does not exist any more. To fix it: put it back, or run: agent plugin remove hello` });
  });

  it('that is gone and held a guard denies', async () => {
    const folder = at.plugin('guard', { id: 'guard', capabilities: ['gate:tool.gate'] });
    await add(folder);
    renameSync(folder, `${folder}-moved`);
    await using agent = await boot(at);
    expect(await agent.kernel.call('tool.gate', { name: 'x' })).toMatchObject({ verdict: 'deny', reason: expect.stringContaining('guard') });
  });

  it('that holds no plugin any more, or a broken one, is reported', async () => {
    const folder = at.plugin('hello', { id: 'hello' });
    await add(folder);
    rmSync(join(folder, 'package.json'));
    expect(await stateOf('hello')).toMatchObject({ state: 'refused', reason: expect.stringContaining('no longer states') });
    rmSync(join(folder, 'index.ts'));
    expect(await stateOf('hello')).toMatchObject({ state: 'refused', reason: expect.stringContaining('holds no plugin any more') });
    writeFileSync(join(folder, 'package.json'), '{');
    expect(await stateOf('hello')).toMatchObject({ state: 'refused', reason: expect.stringContaining('JSON') });
  });
});

describe('the lock file', () => {
  it('that is damaged stops the command, and stays as it is', async () => {
    const folder = at.plugin('hello', { id: 'hello' });
    await using agent = await boot(at);
    at.write('home/data/agent-plugins.lock', '{ "version": 1, "plugins": { "a"');
    const { code, err } = await agent.run('plugin add', { arguments: { source: folder }, options: { yes: true } });
    expect(code).toBe(2);
    expect(err).toMatch(/agent-plugins\.lock: JSON: .*\n {2}correct the file, or delete it and add your plugins again/);
    expect(readFileSync(at.lock, 'utf8')).toBe('{ "version": 1, "plugins": { "a"');
  });

  it('that cannot be written is the reason given', async () => {
    at.write('home/data', 'a file where the folder should be');
    const { code, err } = await add(at.plugin('hello', { id: 'hello' }));
    expect(code).toBe(1);
    expect(err).toMatch(/^agent: .*agent-plugins\.lock cannot be written: (ENOTDIR|EEXIST)/m);
    expect(err).toContain('nothing was changed');
  });
});
