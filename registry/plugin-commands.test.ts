import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { boot, type Place, place } from './commands.testing.ts';
import { readLock } from './lock.ts';

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.remove());

const plugin = (members: string): string => `import { definePlugin, tool, z } from 'newt-agent';\nexport default definePlugin({}, () => (${members}));\n`;
const greeting = plugin("{ tools: { greet: tool({ description: 'Greets', input: z.object({}), effect: 'read', run: () => 'Hi' }) }, hooks: { 'turn.start': () => {} } }");

describe('plugin list', () => {
  it('names every plugin, what was added first, with what it contributes', async () => {
    at.plugin('home/config/plugins/greeter', { id: 'greeter' }, greeting);
    await using agent = await boot(at);
    const { code, out, err } = await agent.run('plugin list');
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['PLUGIN', 'VERSION', 'TIER', 'STATE', 'CONTRIBUTES', 'PATH'],
      ['greeter', '1.2.3', 'global', 'activated', '1 tool, 1 hook', join(at.paths.config, 'plugins/greeter')],
      ['registry', '0.1.0', 'builtin', 'activated', expect.stringMatching(/^2 checks, \d+ commands$/)],
      ['words', '0.1.0', 'builtin', 'activated', '-'],
    ]);
    expect(err).toBe('');
  });

  it('says how to add one where there are only built-ins', async () => {
    await using agent = await boot(at);
    expect((await agent.run('plugin list')).err).toContain('agent plugin add <folder>');
  });

  it('puts the reason under a plugin that does not run, wrapped for a terminal only', async () => {
    at.write('home/config/plugins/broken.ts', "throw new Error('a long story of a plugin that could not be loaded because of this and of that');");
    await using agent = await boot(at);
    const [, line, reason, next] = (await agent.run('plugin list')).out.split('\n');
    expect(line).toMatch(/^broken +0\.0\.0 +global +quarantined +- /);
    expect(reason).toMatch(/^ {2}.*a long story of a plugin that could not be loaded because of this and of that/);
    expect(next).toMatch(/^registry/);
    const wrapped = (await agent.run('plugin list', { interactive: true, columns: 60 })).out.split('\n');
    expect(wrapped.slice(2).filter((text) => text.startsWith('  ')).length).toBeGreaterThan(1);
    expect(wrapped.slice(3).every((text) => text.length <= 60 || !text.trim().includes(' '))).toBe(true);
  });

  it('keeps to the width of a terminal', async () => {
    at.plugin('home/config/plugins/greeter', { id: 'greeter' }, greeting);
    await using agent = await boot(at);
    const { out } = await agent.run('plugin list', { interactive: true, columns: 70 });
    const path = join(at.paths.config, 'plugins/greeter');
    expect(out.split('\n').every((line) => line.length <= 70 || line.includes(path))).toBe(true);
  });

  it('puts the path on a line of its own on a terminal, whole', async () => {
    const folder = at.plugin(`home/config/plugins/${'greeter'.repeat(4)}`, { id: 'greeter' }, greeting);
    await using agent = await boot(at);
    const lines = (await agent.run('plugin list', { interactive: true, columns: 60 })).out.split('\n');
    expect(lines[0]).not.toContain('PATH');
    expect(lines[2]).toBe(`  ${folder}`);
    expect(lines[3]).toMatch(/^registry/);
  });

  it('says of what waits to be needed that it is there on demand', async () => {
    at.plugin('home/config/plugins/lazy', { id: 'lazy', activateOn: ['hook:turn.end'] }, greeting);
    await using agent = await boot(at);
    expect((await agent.run('plugin list')).out).toMatch(/^lazy +1\.2\.3 +global +on demand +- /m);
    expect((await agent.run('plugin list', { options: { json: true } })).json).toContainEqual(expect.objectContaining({ id: 'lazy', state: 'resolved' }));
    expect(await agent.run('plugin release', { arguments: { id: 'lazy' } })).toMatchObject({ code: 0, out: 'lazy is loaded on demand and has nothing on record' });
  });

  it('cannot be made to write escape sequences', async () => {
    at.write('home/config/plugins/evil/package.json', JSON.stringify({ agent: { id: 'evil', version: '1\u001b[2J', engine: '>=9 \u001b[31m' } }));
    at.write('home/config/plugins/evil/index.ts', '');
    await using agent = await boot(at);
    expect((await agent.run('plugin list')).out).not.toContain('\u001b');
  });

  it('is an array in JSON, every key present', async () => {
    at.plugin('home/config/plugins/greeter', { id: 'greeter' }, greeting);
    at.plugin('more/greeter', { id: 'greeter' });
    await using first = await boot(at);
    await first.run('plugin add', { arguments: { source: join(at.root, 'more/greeter') }, options: { yes: true } });
    await using agent = await boot(at);
    const { json, out } = await agent.run('plugin list', { options: { json: true } });
    expect(out).toBe('');
    expect(json).toEqual([
      { id: 'greeter', version: '1.2.3', tier: 'global', state: 'resolved', path: join(at.paths.config, 'plugins/greeter'), contributes: ['hook turn.start', 'tools/greet'], capabilities: [], requires: [], reason: null },
      { id: 'greeter', version: '1.2.3', tier: 'npm', state: 'refused', path: join(at.root, 'more/greeter'), contributes: [], capabilities: [], requires: [], reason: expect.stringContaining('shadowed by the global plugin') },
      expect.objectContaining({ id: 'registry', tier: 'builtin' }),
      expect.objectContaining({ id: 'words', tier: 'builtin' }),
    ]);
  });
});

describe('plugin remove', () => {
  it('takes the entry out and leaves the folder', async () => {
    const folder = at.plugin('hello', { id: 'hello' });
    await using agent = await boot(at);
    await agent.run('plugin add', { arguments: { source: folder }, options: { yes: true } });
    const { code, out } = await agent.run('plugin remove', { arguments: { id: 'hello' } });
    expect(code).toBe(0);
    expect(out).toBe(`Removed hello; its folder ${folder} is untouched`);
    expect(readLock(at.lock)).toEqual({});
    expect(existsSync(join(folder, 'index.ts'))).toBe(true);
  });

  it('forgets the faults of the plugin, and those of no other', async () => {
    const broken = "throw new Error('never');";
    at.plugin('home/config/plugins/other', { id: 'other' }, broken);
    const folder = at.plugin('hello', { id: 'hello' }, broken);
    {
      await using agent = await boot(at);
      await agent.run('plugin add', { arguments: { source: folder }, options: { yes: true } });
    }
    await using agent = await boot(at);
    expect((await agent.run('plugin faults', { arguments: { id: 'hello' } })).out).toContain('never');
    expect((await agent.run('plugin remove', { arguments: { id: 'hello' } })).code).toBe(0);
    expect(readdirSync(join(at.paths.state, 'faults')).filter((name) => name.endsWith('.json'))).toEqual(['other.json']);
  });

  it('says where another plugin lives and how to turn it off, keeping what is off already', async () => {
    at.plugin('home/config/plugins/greeter', { id: 'greeter' });
    at.write('home/config/config.yaml', 'plugins:\n  disabled: [old]\n');
    await using agent = await boot(at);
    const { code, err } = await agent.run('plugin remove', { arguments: { id: 'greeter' } });
    expect(code).toBe(2);
    expect(err).toContain(`it is the global plugin at ${join(at.paths.config, 'plugins/greeter')}`);
    expect(err).toContain(`agent plugin disable greeter`);
    expect((await agent.run('plugin remove', { arguments: { id: 'words' } })).err).toContain('words is built in and cannot be removed');
  });

  it('suggests the nearest id', async () => {
    await using agent = await boot(at);
    const { code, err } = await agent.run('plugin remove', { arguments: { id: 'word' } });
    expect(code).toBe(2);
    expect(err).toBe('agent: there is no plugin "word"; did you mean "words"?\n  agent plugin list shows all');
  });
});

describe('plugin release', () => {
  it('starts a quarantined plugin again', async () => {
    at.write('flag', '');
    at.write('home/config/plugins/moody.ts', `import { existsSync } from 'node:fs';\nif (existsSync(${JSON.stringify(join(at.root, 'flag'))})) throw new Error('not today');\n${greeting}`);
    await using agent = await boot(at);
    const again = await agent.run('plugin release', { arguments: { id: 'moody' } });
    expect(again.code).toBe(1);
    expect(again.err).toMatch(/^agent: moody is quarantined again: .*not today/);
    rmSync(join(at.root, 'flag'));
    const { code, out } = await agent.run('plugin release', { arguments: { id: 'moody' } });
    expect([code, out]).toEqual([0, 'moody is activated']);
  });

  it('does nothing for a plugin that was refused, and says why it was', async () => {
    at.plugin('home/config/plugins/old', { id: 'old', engine: '^9' });
    await using agent = await boot(at);
    const { code, err } = await agent.run('plugin release', { arguments: { id: 'old' } });
    expect(code).toBe(2);
    expect(err).toContain('old is not in quarantine, it was refused: needs newt-agent ^9');
  });

  it('suggests the nearest id', async () => {
    await using agent = await boot(at);
    expect((await agent.run('plugin release', { arguments: { id: 'registri' } })).err).toContain('did you mean "registry"?');
  });
});

describe('plugin why', () => {
  const tap = (order: string): string => plugin(`{ hooks: { 'prompt.build': { ${order} run: (prompt) => prompt } } }`);

  it('numbers the taps in their order, each with its reasons', async () => {
    at.write('home/config/plugins/aaa.ts', tap("stage: 'post',"));
    at.write('home/config/plugins/bbb.ts', tap("after: ['ccc'],"));
    at.write('home/config/plugins/ccc.ts', tap(''));
    await using agent = await boot(at);
    const { code, out } = await agent.run('plugin why', { arguments: { hook: 'prompt.build' } });
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'prompt.build is a waterfall hook: each hands its value on to the next',
      '#  PLUGIN  STANDS HERE BY',
      '1  ccc     stage normal, tier global, id ccc',
      '2  bbb     stage normal, after ccc, tier global, id bbb',
      '3  aaa     stage post, tier global, id aaa',
    ]);
    const { json } = await agent.run('plugin why', { arguments: { hook: 'prompt.build' }, options: { json: true } });
    expect(json).toMatchObject({ hook: 'prompt.build', kind: 'waterfall', taps: [{ position: 1, plugin: 'ccc', tier: 'global', open: true }, { position: 2 }, { position: 3 }] });
  });

  it('counts plugins that start with the hook', async () => {
    at.plugin('home/config/plugins/lazy', { id: 'lazy', activateOn: ['hook:turn.end'] }, plugin("{ hooks: { 'turn.end': () => {} } }"));
    await using agent = await boot(at);
    expect((await agent.run('plugin why', { arguments: { hook: 'turn.end' } })).out).toContain('\n1  lazy ');
  });

  it('says so where nobody taps it', async () => {
    await using agent = await boot(at);
    expect((await agent.run('plugin why', { arguments: { hook: 'session.end' } })).out).toBe('session.end is a series hook: each in turn\nNo plugin taps it.');
  });

  it('marks a tap that is not called any more', async () => {
    at.write('home/config/plugins/bad.ts', plugin("{ hooks: { 'prompt.build': () => { throw new Error('no'); } } }"));
    await using agent = await boot(at);
    for (let n = 0; n < 3; n++) await agent.kernel.call('prompt.build', { cwd: '/', sections: [] });
    expect((await agent.run('plugin why', { arguments: { hook: 'prompt.build' } })).out).toContain('in quarantine: not called');
  });

  it('suggests the nearest of the hooks, and lists them', async () => {
    await using agent = await boot(at);
    const { code, err } = await agent.run('plugin why', { arguments: { hook: 'prompt.biuld' } });
    expect(code).toBe(2);
    expect(err).toMatch(/^agent: there is no hook "prompt\.biuld"; did you mean "prompt\.build"\?\n {2}hooks are agent\.stop, /);
  });
});

describe('plugin faults', () => {
  const long = `export const x = [${"'wide', ".repeat(16)}(() => { throw new Error('far right'); })()];\n`;

  it.each([[40], [80], [200]])('keeps the code to %i columns of a terminal, with the caret under the place', async (columns) => {
    at.write('home/config/plugins/far.ts', `// 表表表\r\n${long}`);
    await using agent = await boot(at);
    const lines = (await agent.run('plugin faults', { arguments: { id: 'far' }, interactive: true, columns })).out.split('\n');
    const frame = lines.filter((line) => line.includes(' | '));
    expect(frame.every((line) => line.length <= columns)).toBe(true);
    const row = frame.findIndex((line) => line.startsWith('  > 2 |'));
    const caret = frame[row + 1]?.indexOf('^') ?? -1;
    const [{ source = '', column = 0 } = {}] = agent.kernel.faultHistory('far');
    expect(column).toBeGreaterThan(100);
    expect(frame[row]?.slice(caret, caret + 9)).toBe(source.slice(column - 1, column + 8));
  });

  it('prints whole lines where nobody looks', async () => {
    at.write('home/config/plugins/far.ts', long);
    await using agent = await boot(at);
    expect((await agent.run('plugin faults', { arguments: { id: 'far' } })).out).toContain(long.trimEnd());
  });
});
