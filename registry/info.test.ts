/** `agent plugin info`, `search` and `doctor`, the filters of `list`, and `release --all`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCatalog, searchCatalog } from './catalog.ts';
import { boot, type Place, place } from './commands.testing.ts';

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.remove());

const rich = `import { definePlugin, tool, z } from 'newt-agent';
export default definePlugin({ config: z.object({ depth: z.number().default(3).describe('How deep'), api_key: z.string().optional().describe('Key of the service'), inner: z.object({ name: z.string().default('x') }).prefault({}) }) }, () => ({
  tools: { look: tool({ description: 'Looks', input: z.object({}), effect: 'read', run: () => '' }) },
  hooks: { 'turn.start': () => {} },
}));
`;

describe('plugin info', () => {
  it('is one page: what it is, asks for, brings, can be set to, and how it fares; secrets are masked', async () => {
    const folder = at.plugin('rich', { id: 'rich', capabilities: ['exec', 'env:HOME'], requires: { plugins: { base: '*' } } }, rich);
    at.plugin('home/config/plugins/base', { id: 'base' });
    at.write('home/config/config.yaml', 'plugins: { config: { rich: { depth: 7, api_key: sk-very-secret } } }\n');
    {
      await using agent = await boot(at);
      await agent.run('plugin add', { arguments: { source: folder }, options: { yes: true } });
    }
    await using agent = await boot(at);
    const { code, out } = await agent.run('plugin info', { arguments: { id: 'rich' } });
    expect(code).toBe(0);
    expect(out).not.toContain('sk-very-secret');
    const lines = out.split('\n').map((line) => line.trim().replace(/ {2,}/, '|'));
    expect(lines).toEqual([
      'rich 1.2.3',
      'state|activated: it runs',
      'tier|npm',
      `path|${folder}`,
      expect.stringMatching(/^source\|link, agreed to \d{4}-\d\d-\d\d$/),
      'asks for|exec (run programs), env:HOME (read the variable HOME)',
      'requires|base',
      'tools|look',
      'taps|turn.start',
      'settings|plugins.config.rich.depth = 7: How deep',
      'plugins.config.rich.api_key = ********: Key of the service',
      'plugins.config.rich.inner.name = x (default)',
      'faults|none on record',
      expect.stringMatching(/^digest\|[0-9a-f]{12}$/),
    ]);
    writeFileSync(join(folder, 'index.ts'), `${rich}// more\n`);
    expect((await agent.run('plugin info', { arguments: { id: 'rich' } })).out).toMatch(/digest +[0-9a-f]{12}, another one than when you added it/);
    expect((await agent.run('plugin info', { arguments: { id: 'rich' }, options: { json: true } })).json).toMatchObject({ id: 'rich', installed: true, catalog: null, plugins: [{ source: 'link', agreedTo: ['env:HOME', 'exec'], taps: ['turn.start'], contributes: ['tools/look'], changedSinceAgreed: true, faults: { count: 0, last: null } }] });
  });

  it('says why one is off, and how often it failed', async () => {
    at.write('home/config/plugins/broken.ts', "throw new Error('no luck');\n");
    await using agent = await boot(at);
    const { out } = await agent.run('plugin info', { arguments: { id: 'broken' } });
    expect(out).toMatch(/state +quarantined: .*no luck/);
    expect(out).toMatch(/faults +1 fault on record, the last \d{4}-.*: agent plugin faults broken/);
  });

  it('knows what the catalog has by id and by name of the package, and suggests', async () => {
    const [id = '', entry] = Object.entries(readCatalog())[0] ?? [];
    await using agent = await boot(at);
    for (const name of [id, entry?.package ?? '']) {
      const { code, out } = await agent.run('plugin info', { arguments: { id: name } });
      expect(code).toBe(0);
      expect(out).toContain('not installed');
      expect(out).toContain(`agent plugin add ${id}`);
      expect(out).toContain(entry?.description);
    }
    expect((await agent.run('plugin info', { arguments: { id }, options: { json: true } })).json).toMatchObject({ id, installed: false, catalog: { package: entry?.package }, plugins: [] });
    expect(await agent.run('plugin info', { arguments: { id: 'registri' } })).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "registry"?') as string });
  });
});

describe('plugin search', () => {
  it('finds what fits, with what is installed of it', async () => {
    const catalog = readCatalog();
    const [{ id, entry } = { id: '', entry: undefined }] = searchCatalog(catalog, Object.keys(catalog)[0] ?? '');
    await using agent = await boot(at);
    const { code, out, err } = await agent.run('plugin search', { arguments: { words: [id] } });
    expect(code).toBe(0);
    expect(out.split('\n')[1]).toMatch(new RegExp(`^${id} +- `));
    expect(out).toContain(entry?.description);
    expect(err).toContain(`agent plugin add ${id}`);
    at.plugin(`home/config/plugins/${id}`, { id });
    await using next = await boot(at);
    expect((await next.run('plugin search', { arguments: { words: [id] } })).out).toMatch(new RegExp(`^${id} +1\\.2\\.3 \\(global\\)`, 'm'));
    const all = (await next.run('plugin search', { options: { json: true } })).json as { id: string; installed: boolean }[];
    expect(all.map((one) => one.id).sort()).toEqual(Object.keys(catalog).sort());
    expect(all.find((one) => one.id === id)).toMatchObject({ installed: true, version: '1.2.3' });
  });

  it('answers 1 where nothing fits', async () => {
    await using agent = await boot(at);
    expect(await agent.run('plugin search', { arguments: { words: ['qqqqqq'] } })).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Nothing in the catalog is about qqqqqq') as string });
    expect(await agent.run('plugin search', { arguments: { words: ['qqqqqq'] }, options: { json: true } })).toMatchObject({ code: 1, json: [] });
  });
});

describe('plugin list', () => {
  it('shows only one tier, or only what needs somebody, and says what its words mean', async () => {
    at.plugin('home/config/plugins/fine', { id: 'fine' });
    at.write('home/config/plugins/broken.ts', "throw new Error('no luck');\n");
    await using agent = await boot(at);
    const shown = async (options: Record<string, string | boolean>): Promise<string[]> => ((await agent.run('plugin list', { options: { ...options, json: true } })).json as { id: string }[]).map(({ id }) => id);
    expect(await shown({ tier: 'global' })).toEqual(['broken', 'fine']);
    expect(await shown({ faulty: true })).toEqual(['broken']);
    expect(await shown({ faulty: true, tier: 'builtin' })).toEqual([]);
    expect((await agent.run('plugin list', { options: { faulty: true, tier: 'builtin' } })).out).toBe('No plugin needs looking at.');
    expect((await agent.run('plugin list', { options: { faulty: true } })).out).toContain('\nquarantined: it failed and is off, until it changes');
    expect(await agent.run('plugin list', { options: { tier: 'globl' } })).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "global"?') as string });
  });
});

describe('plugin doctor', () => {
  it('is content with what is well', async () => {
    const folder = at.plugin('hello', { id: 'hello' });
    {
      await using agent = await boot(at);
      await agent.run('plugin add', { arguments: { source: folder }, options: { yes: true } });
    }
    await using agent = await boot(at);
    const { code, out } = await agent.run('plugin doctor');
    expect(code).toBe(0);
    expect(out).toMatch(/✓ lock +1 plugin added, as agreed to/);
    expect(out).toMatch(/All is well with the plugins\.$/);
    at.write('hello/index.ts', `${rich}// changed\n`);
    const changed = await agent.run('plugin doctor', { options: { json: true } });
    expect(changed).toMatchObject({ code: 0, json: { ok: true, findings: expect.arrayContaining([expect.objectContaining({ level: 'info', what: 'lock', detail: expect.stringContaining('hello is not what it was') as string })]) as unknown } });
  });

  it('answers 1 when somebody has to do something, and says what', async () => {
    at.write('home/config/plugins/broken.ts', "throw new Error('no luck');\n");
    await using agent = await boot(at);
    const { code, out } = await agent.run('plugin doctor');
    expect(code).toBe(1);
    expect(out).toMatch(/✗ plugin +broken .* is in quarantine: .*no luck[^]*→ agent plugin release broken/);
  });

  it('tells of safe mode, and of starts that died', async () => {
    const boots = join(at.paths.state, 'boots');
    mkdirSync(boots, { recursive: true });
    // Of another machine, and long ago.
    writeFileSync(join(boots, '1000.00000000.4999999.1.run'), '');
    await using agent = await boot(at);
    expect((await agent.run('plugin doctor')).out).toMatch(/! starts +1 start of the agent died within a minute/);
    at.write('home/state/safe-mode.json', JSON.stringify({ version: 1, since: 1, deaths: [{ command: 'run', at: 1 }], everywhere: '', project: { folder: '', digest: '' } }));
    expect(await agent.run('plugin doctor')).toMatchObject({ code: 1, out: expect.stringMatching(/✗ safe mode/) as string });
    expect(await agent.run('plugin release', { options: { all: true } })).toMatchObject({ code: 0, out: expect.stringContaining('Safe mode is over') as string });
    expect((await agent.run('plugin doctor')).out).not.toMatch(/safe mode|starts/);
  });
});

describe('plugin release --all', () => {
  it('starts all that are in quarantine again, and tells those that fail again', async () => {
    at.write('home/config/plugins/one.ts', "throw new Error('no luck');\n");
    at.write('home/config/plugins/two.ts', "throw new Error('none here either');\n");
    await using agent = await boot(at);
    expect(await agent.run('plugin release', { options: { all: true } })).toMatchObject({ code: 1, err: expect.stringContaining('quarantined again: one, two') as string });
    expect(await agent.run('plugin release')).toMatchObject({ code: 2 });
    expect(await agent.run('plugin release', { arguments: { id: 'one' }, options: { all: true } })).toMatchObject({ code: 2 });
  });

  it('has nothing to do where all is well', async () => {
    await using agent = await boot(at);
    expect(await agent.run('plugin release', { options: { all: true } })).toMatchObject({ code: 0, out: 'Nothing is in quarantine.' });
  });
});
