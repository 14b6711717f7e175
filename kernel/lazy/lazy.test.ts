/** What an earlier start recorded stands for a plugin until its code is needed. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { boot, candidateOf, type Inline, type Stage, temporaryFolder } from '../../test/support/boot.ts';
import { discoverFolder, discoverPlugin } from '../discover.ts';
import { digestPlugin } from '../trust/digest.ts';
import * as face from '../index.ts';
import type { KernelOptions } from '../kernel.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const marks = () => join(folder, 'marks');
/** How often code of a plugin has run. */
const loads = (): number => (existsSync(marks()) ? readFileSync(marks(), 'utf8').length : 0);
const write = (name: string, text: string): void => writeFileSync(join(folder, 'plugins', name), text);

const lazy = (setup = '() => ({ jobs: { work: job }, hooks: { "one.event": () => undefined } })', facts = "activateOn: ['onDemand']"): string => `import { appendFileSync } from 'node:fs';
import { definePlugin } from 'newt-agent';
appendFileSync(${JSON.stringify(marks())}, '.');
const job = { title: 'Work', tags: ['a'], run: (input: string) => 'did ' + input };
export default definePlugin({ id: 'lazy', ${facts} }, ${setup});
`;

const one = { name: 'one.event', kind: 'series', mode: 'async', onFault: 'skip', deadline: 1_000 } as const;
const jobs = { name: 'jobs', itemName: /^\w+$/, members: { run: { kind: 'call', deadline: 1_000 }, extra: { kind: 'call', deadline: 1_000, optional: true, onFault: () => 'policy' } }, facts: { shape: { of: 'schema', read: (item: { schema?: unknown }) => (item.schema === undefined ? null : 'a shape') } } } as const;

const host: Inline = { id: 'host', tier: 'builtin', defines: { hooks: [one], points: [jobs as never] } };

async function start({ candidates, ...options }: Partial<KernelOptions> = {}): Promise<Stage> {
  mkdirSync(join(folder, 'plugins'), { recursive: true });
  return boot([], {
    folder,
    candidates: [candidateOf(host, join(folder, 'host')), ...(candidates ?? discoverFolder('global', join(folder, 'plugins')))],
    // Frozen, as a module's namespace is.
    virtualModules: async () => ({ 'newt-agent': Object.freeze({ ...face, z }), zod: await import('zod') }),
    ...options,
  });
}

/** A start that records, and the next one. */
async function twice(source = lazy(), options: Partial<KernelOptions> = {}): Promise<Stage> {
  await (await start()).kernel.dispose();
  write('lazy.ts', source);
  await (await start(options)).kernel.dispose();
  expect(loads()).toBe(1);
  return start(options);
}

const item = (stage: Stage) => stage.kernel.items('jobs').get('work')?.item as { title: string; tags: string[]; run(input: string): Promise<unknown>; extra?: (input: string) => Promise<unknown> };

describe('a plugin whose setup only answers', () => {
  test('is there without its code: its items with what they say, and its taps', async () => {
    const stage = await twice();
    expect(loads()).toBe(1);
    expect(stage.plugin('lazy')).toMatchObject({ state: 'resolved', contributes: ['hook one.event', 'jobs/work'] });
    expect(item(stage)).toMatchObject({ title: 'Work', tags: ['a'] });
    expect(item(stage).extra).toBeUndefined();
  });

  test('is loaded by the first call of an item, once, and is then like any other', async () => {
    const stage = await twice();
    const held = item(stage);
    expect(await Promise.all([held.run('this'), held.run('that')])).toEqual(['did this', 'did that']);
    expect(loads()).toBe(2);
    expect(stage.plugin('lazy')).toMatchObject({ state: 'activated', contributes: ['hook one.event', 'jobs/work'] });
    expect(await held.run('more')).toBe('did more');
    expect([...stage.kernel.items('jobs')].length).toBe(1);
  });

  test('is loaded by the first call of a hook it taps', async () => {
    const stage = await twice();
    await stage.kernel.call('one.event', null);
    expect(stage.plugin('lazy').state).toBe('activated');
  });

  test('is loaded for whoever looks at plugins themselves', async () => {
    const stage = await twice();
    await stage.kernel.fire('onInspect');
    expect(stage.plugin('lazy').state).toBe('activated');
  });

  test('takes its time for the caller, but not for ever: a load that hangs is a fault, answered by policy', async () => {
    const stage = await twice(lazy('() => ({ jobs: { work: { ...job, extra: () => "real" } } })'));
    write('lazy.ts', '');
    // It cannot come up any more: what lies there is not what was recorded, and nobody has looked yet.
    const held = item(stage);
    expect(await held.extra?.('x')).toBe('policy');
    await expect(held.run('x')).rejects.toThrow(/lazy/);
    expect(stage.plugin('lazy').state).toBe('quarantined');
    expect(stage.kernel.items('jobs').size).toBe(0);
  });

  test('that no longer has an item says so', async () => {
    const stage = await twice(lazy(`() => (globalThis as { gone?: boolean }).gone ? {} : { jobs: { work: job } }`));
    (globalThis as { gone?: boolean }).gone = true;
    try {
      await expect(item(stage).run('x')).rejects.toThrow(/jobs\/work: plugin lazy does not have it any more/);
    } finally {
      delete (globalThis as { gone?: boolean }).gone;
    }
    expect(stage.kernel.items('jobs').size).toBe(0);
  });
});

describe('a record counts', () => {
  test.each([
    ['its content', async () => (write('lazy.ts', lazy().replace("'Work'", "'Other'")), start())],
    ['its part of the configuration', () => start({ configOf: () => ({ loud: true }) })],
    ['the version of the agent', () => start({ version: '9.9.9' })],
  ])('only while %s is the same', async (_, next) => {
    await (await twice()).kernel.dispose();
    const stage = await next();
    expect(loads()).toBe(2);
    expect(stage.plugin('lazy').state).toBe('activated');
  });

  test.each([
    ['is torn', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20))],
    ['says something else', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('Work', 'Evil'))],
    ['is no index at all', (file: string) => writeFileSync(file, '[]')],
    ['is gone', (file: string) => rmSync(file)],
  ])('not where the index %s: it is made anew', async (_, damage) => {
    await (await twice()).kernel.dispose();
    damage(join(folder, 'home', 'cache', 'contributions.json'));
    await (await start()).kernel.dispose();
    expect(loads()).toBe(2);
    const stage = await start();
    expect(loads()).toBe(2);
    expect(item(stage).title).toBe('Work');
  });

  test('not for one that has a fault on record', async () => {
    const bad = lazy('() => ({ jobs: { work: { ...job, run: () => { throw new Error("no"); } } } })');
    const stage = await twice(bad);
    await item(stage).run('x').catch(() => undefined);
    await stage.kernel.dispose();
    expect((await start()).plugin('lazy')).toMatchObject({ state: 'degraded' });
  });
});

describe('code runs at each start', () => {
  test.each([
    ['registers by hand', '(p) => { p.contribute("jobs" as never, "work", job as never); return {}; }'],
    ['asks the world', '(p) => (p.env("HOME"), { jobs: { work: job } })'],
    ['runs something on a clock', '(p) => { p.every(60_000, () => undefined); return { jobs: { work: job } }; }'],
    ['has nothing that could wake it', '() => ({})'],
    ['may ask the world behind our back', '() => ({ jobs: { work: job } })'],
    ['has an item that is more than JSON', '() => ({ jobs: { work: { ...job, since: new Date(0) } } })'],
  ])('of a plugin whose setup %s', async (_, setup) => {
    await (await start()).kernel.dispose();
    write('lazy.ts', lazy(setup, "capabilities: ['env:HOME']"));
    await (await start()).kernel.dispose();
    const stage = await start();
    expect(loads()).toBe(2);
    expect(stage.plugin('lazy').state).toBe('activated');
  });

  test('unless it names its events itself', async () => {
    await (await start()).kernel.dispose();
    write('lazy.ts', lazy('(p) => { p.every(60_000, () => undefined); return { jobs: { work: job } }; }', "activateOn: ['later']"));
    // Of a bare file nobody knows what it names before it has run.
    await (await start()).kernel.dispose();
    expect(loads()).toBe(1);
    const stage = await start();
    expect(loads()).toBe(1);
    expect(item(stage).title).toBe('Work');
    await stage.kernel.fire('later');
    expect(loads()).toBe(2);
  });
});

test('a plugin that is nothing but answers waits, without a word of its author', async () => {
  await (await start()).kernel.dispose();
  write('plain.ts', "import { definePlugin, z } from 'newt-agent';\nimport { join } from 'node:path';\nexport default definePlugin({ id: 'plain' }, () => ({ jobs: { work: { title: join('a', 'b'), run: () => z.string().parse('x') } } }));\n");
  await (await start()).kernel.dispose();
  const stage = await start();
  expect(stage.plugin('plain').state).toBe('resolved');
  expect(await item(stage).run('')).toBe('x');
});

test('what stands for a schema is on record, the schema is not', async () => {
  const stage = await twice(lazy('() => ({ jobs: { work: { ...job, schema: new Map() } } })'));
  expect(item(stage)).toMatchObject({ shape: 'a shape' });
  expect(item(stage)).not.toHaveProperty('schema');
});

test('what was installed is looked at before it runs, and not before', async () => {
  await (await start()).kernel.dispose();
  write('lazy.ts', lazy());
  const path = join(folder, 'plugins', 'lazy.ts');
  const agreed = digestPlugin(path);
  const candidates = [{ ...(discoverPlugin('npm', path) as NonNullable<ReturnType<typeof discoverPlugin>>), digest: 'as installed', changed: () => (digestPlugin(path) === agreed ? undefined : 'its files are not what was installed') }];
  await (await start({ candidates })).kernel.dispose();
  appendFileSync(path, '\n// tampered with');
  const stage = await start({ candidates });
  expect(item(stage).title).toBe('Work');
  await expect(item(stage).run('x')).rejects.toThrow(/lazy/);
  expect(loads()).toBe(1);
  expect(stage.plugin('lazy')).toMatchObject({ state: 'refused', reason: expect.stringContaining('not what was installed') as string });
});

test('a warm start needs no transpiler, and takes the same plugin for it', async () => {
  await (await start()).kernel.dispose();
  write('other.mts', 'export const shared = { n: 0 };\n');
  write('lazy.ts', `import path, { join } from 'node:path';\nimport * as os from 'node:os';\nimport zod from 'zod';\nimport { z } from 'newt-agent';\nimport { shared } from './other.mts';\n${lazy('(p) => (p.env("HOME"), { jobs: { work: { ...job, run: () => [path.join === join, typeof os.cpus, zod.string === z.string, ++shared.n, import.meta.filename.endsWith("lazy.ts")].join() } } })', "capabilities: ['env:HOME']")}`);
  const answers: unknown[] = [];
  for (let n = 0; n < 2; n += 1) {
    const stage = await start();
    answers.push(await item(stage).run(''));
    await stage.kernel.dispose();
  }
  expect(answers).toEqual(['true,function,true,1,true', 'true,function,true,1,true']);
});

describe('what attackers found', () => {
  const gate = { name: 'may.it', kind: 'gate', mode: 'async', onFault: 'deny', deadline: 1_000, fallback: { verdict: 'allow' } } as const;
  const pathOf = (name: string): string => join(folder, 'plugins', name);
  const discovered = (name: string) => discoverPlugin('global', pathOf(name)) as NonNullable<ReturnType<typeof discoverPlugin>>;
  const folderPlugin = (id: string, code: string, agent: object = {}): void => {
    mkdirSync(pathOf(id), { recursive: true });
    write(`${id}/package.json`, JSON.stringify({ agent: { id, main: 'index.ts', ...agent } }));
    write(`${id}/index.ts`, code);
  };
  /** Its state, and what the gate says, in three starts. */
  const hosted = (candidates: KernelOptions['candidates']) => boot([], { folder, candidates: [candidateOf({ id: 'host', tier: 'builtin', defines: { hooks: [one, gate], points: [jobs as never] } }, join(folder, 'host')), ...candidates], virtualModules: async () => ({ 'newt-agent': { ...face, z }, zod: await import('zod') }) });

  test('a guard that taps its gate today or not is asked, and does not deny for being away', async () => {
    await (await start()).kernel.dispose();
    folderPlugin('guard', "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'guard', capabilities: ['gate:may.it'] }, () => ({ jobs: { work: { run: () => 'x' } } }));\n", { capabilities: ['gate:may.it'] });
    for (let n = 0; n < 3; n += 1) {
      const stage = await hosted([discovered('guard')]);
      expect(await stage.kernel.call('may.it', null)).toMatchObject({ verdict: 'allow' });
      await stage.kernel.dispose();
    }
  });

  test('nobody can change what all plugins import', async () => {
    await (await start()).kernel.dispose();
    write('a-evil.ts', "import * as agent from 'newt-agent';\nimport { definePlugin } from 'newt-agent';\nlet told = 'changed';\ntry { (agent as { z?: unknown }).z = 1; } catch { told = 'refused'; }\ntry { Object.assign(agent, { definePlugin: 1 }); } catch {}\nexport default definePlugin({ id: 'a-evil', activateOn: ['onStartup'] }, () => ({ jobs: { told: { run: () => told } } }));\n");
    write('b-victim.ts', "import { definePlugin, z } from 'newt-agent';\nexport default definePlugin({ id: 'b-victim', activateOn: ['onStartup'] }, () => ({ jobs: { work: { run: () => typeof z.string } } }));\n");
    for (let n = 0; n < 3; n += 1) {
      const stage = await start();
      expect(await item(stage).run('')).toBe('function');
      expect(stage.plugin('b-victim').state).toBe('activated');
      await stage.kernel.dispose();
    }
  });

  test('an edit of a file outside of the plugin’s folder is seen at the next start', async () => {
    await (await start()).kernel.dispose();
    mkdirSync(join(folder, 'shared'));
    const shared = join(folder, 'shared', 'names.ts');
    writeFileSync(shared, "export const NAME = 'aaa';\n");
    folderPlugin('foo', "import { definePlugin } from 'newt-agent';\nimport { NAME } from '../../shared/names.ts';\nexport default definePlugin({ id: 'foo' }, () => ({ jobs: { [NAME]: { run: () => NAME } } }));\n");
    // The modules of one process are kept as they were: here it counts that it is loaded again.
    for (const [name, state] of [['aaa', 'activated'], ['aaa', 'resolved'], ['zzz', 'activated'], ['zzz', 'resolved']]) {
      writeFileSync(shared, `export const NAME = '${name}';\n`);
      const stage = await hosted([discovered('foo')]);
      expect(stage.plugin('foo').state).toBe(state);
      await stage.kernel.dispose();
    }
  });

  test.skipIf(process.platform === 'win32')('a pipe in the place of the index is none', async () => {
    await (await twice()).kernel.dispose();
    const { execFileSync } = await import('node:child_process');
    const file = join(folder, 'home', 'cache', 'contributions.json');
    rmSync(file);
    execFileSync('mkfifo', [file]);
    const stage = await start();
    expect(stage.plugin('lazy').state).toBe('activated');
  });

  test.each([
    ['requires by another name', "const load = require;\nconst more = load('./data.json') as { a: number };\nconst told = () => more.a;", '1'],
    ['requires what is not there', "const load = require;\nlet told = () => 'found';\ntry { load('no-such-package-anywhere'); } catch { told = () => 'missing'; }", 'missing'],
    ['looks at this', "const self = (function () { return typeof this; })();\nconst told = () => self;", 'undefined'],
  ])('warm and cold, a plugin that %s is the same', async (_, code, answer) => {
    await (await start()).kernel.dispose();
    write('data.json', '{"a":1}');
    write('same.ts', `import { definePlugin } from 'newt-agent';\n${code}\nexport default definePlugin({ id: 'same', activateOn: ['onStartup'] }, () => ({ jobs: { work: { run: () => String(told()) } } }));\n`);
    for (let n = 0; n < 3; n += 1) {
      const stage = await start();
      expect(await item(stage).run('')).toBe(answer);
      await stage.kernel.dispose();
    }
  });
});
