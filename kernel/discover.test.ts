/** Discovery and manifests, on real folders: what is found, and what is told of what is broken. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../test/support/boot.ts';
import { discoverFolder, discoverPlugin } from './discover.ts';

/** A folder with these files, links where the content is `-> target`. */
function folderOf(files: Readonly<Record<string, string | object>>): string {
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    if (typeof content === 'string' && content.startsWith('-> ')) symlinkSync(content.slice(3), file);
    else writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

const found = (files: Readonly<Record<string, string | object>>) => discoverFolder('global', folderOf(files)).map(({ manifest, bare, problem }) => [manifest.id, bare ? 'bare' : 'stated', problem?.reason]);
const problemOf = (agent: unknown) => discoverPlugin('global', join(folderOf({ 'one/index.js': '', 'one/package.json': { agent } }), 'one'))?.problem;

describe('what is a plugin', () => {
  test('module files of every kind, and folders with an index module or a manifest', () => {
    expect(
      found({ 'a.ts': '', 'b.mts': '', 'c.js': '', 'd.mjs': '', 'e.cjs': '', 'f/index.ts': '', 'g/index.mjs': '', 'h/package.json': { agent: { id: 'other', main: 'src/main.ts' } }, 'h/src/main.ts': '' }),
    ).toEqual([...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => [id, 'bare', undefined]), ['other', 'stated', undefined]]);
  });

  test('nothing else', () => {
    expect(found({ 'README.md': '', '.hidden.ts': '', 'a.d.ts': '', 'a.test.ts': '', 'data.json': '', 'node_modules/x/index.js': '', 'empty/notes.txt': '', 'library/package.json': { name: 'x', main: 'x.js' }, 'library/x.js': '' })).toEqual([]);
    expect(discoverFolder('global', '/no/such/folder')).toEqual([]);
  });

  test('the facts of a manifest, with what it leaves out filled in', () => {
    const folder = folderOf({ 'one/package.json': { version: '3.2.1', main: 'go.js', agent: { capabilities: ['gate:may.it'], requires: { plugins: { two: '^1.0.0' } } } }, 'one/go.js': '' });
    expect(discoverPlugin('npm', join(folder, 'one'))).toEqual({
      tier: 'npm',
      path: join(folder, 'one'),
      entry: join(folder, 'one', 'go.js'),
      bare: false,
      manifest: { id: 'one', version: '3.2.1', engine: '*', requires: { plugins: { two: '^1.0.0' } }, activateOn: [], capabilities: ['gate:may.it'] },
    });
  });

  test('a byte order mark does not matter', () => {
    expect(found({ 'one/package.json': '\uFEFF{"agent": {"id": "two"}}', 'one/index.js': '' })).toEqual([['two', 'stated', undefined]]);
  });
});

test('a folder that is there but cannot be read is told, not taken for an empty one', () => {
  const folder = join(folderOf({ loop: '-> loop', file: '' }), 'loop');
  expect(discoverFolder('global', folder)).toMatchObject([{ path: folder, manifest: { id: 'global-plugins' }, problem: { reason: expect.stringContaining(`${folder}: cannot be read: ELOOP`) } }]);
  expect(discoverFolder('global', join(folder, '..', 'file'))).toEqual([]);
});

describe('a broken plugin is found all the same, with what is wrong', () => {
  test.for([
    ['JSON that is none', { 'one/package.json': '{ "agent": ', 'one/index.js': '' }, /one\/package\.json: JSON: /],
    ['a manifest without a module', { 'one/package.json': { agent: {} } }, /agent\.main: names no module, and there is no index\.ts/],
    ['a main that does not exist', { 'one/package.json': { agent: { main: 'gone.ts' } } }, /agent\.main: gone\.ts does not exist/],
    ['a link to nowhere', { 'one.ts': '-> /no/such/file.ts' }, /ENOENT/],
    ['an id that is none', { 'My Plugin.ts': '' }, /"My Plugin" is not a plugin id/],
    ['an id that is too long', { [`${'a'.repeat(33)}.ts`]: '' }, /is not a plugin id/],
  ] as const)('%s', ([, files, problem]) => {
    const [candidate] = discoverFolder('global', folderOf(files));
    expect(candidate?.problem?.reason).toMatch(problem);
  });

  test.for([
    ['an unknown key', { capabilites: [] }, /agent\.capabilites: unknown key; did you mean "capabilities"\?/],
    ['a key nobody could mean', { zzzzzz: 1 }, /agent\.zzzzzz: unknown key$/],
    ['an unknown key further in', { requires: { plugin: {} } }, /agent\.requires\.plugin: unknown key/],
    ['an id of the wrong form', { id: 'My_Plugin' }, /agent\.id: must be lower-case letters/],
    ['an engine of the wrong type', { engine: 1 }, /agent\.engine: /],
    ['a capability there is not', { capabilities: ['root'] }, /agent\.capabilities\.0: must be exec, net/],
    ['no object', 'yes', /agent: /],
  ] as const)('%s in the manifest', ([, agent, problem]) => {
    expect(problemOf(agent)?.reason).toMatch(problem);
  });

  test('a manifest that cannot be read may speak of any gate', () => {
    const [candidate] = discoverFolder('global', folderOf({ 'one/package.json': '{ "agent": { "capabilities": ["gate:may.it", "net"], }', 'one/index.js': '' }));
    expect(candidate?.manifest.capabilities).toEqual(['gate:*']);
  });
});

describe('in a project', () => {
  const outside = { 'secret/other.ts': 'export default 1;', 'secret/folder/index.ts': '' };
  const project = (files: Readonly<Record<string, string | object>>) => {
    const folder = folderOf({ ...outside, ...Object.fromEntries(Object.entries(files).map(([path, content]) => [`.agent/plugins/${path}`, content])) });
    return discoverFolder('project', join(folder, '.agent', 'plugins'), join(folder, '.agent'));
  };

  test('what lies inside is fine, links within and shared files too', () => {
    expect(project({ 'one.ts': "import './shared/two.ts';", 'shared/two.ts': '', 'three.ts': '-> one.ts' }).map(({ problem }) => problem)).toEqual([undefined, undefined]);
  });

  test.for([
    ['a link to a file outside', { 'one.ts': '-> ../../secret/other.ts' }],
    ['a link to a folder outside', { one: '-> ../../secret/folder' }],
    ['a main outside', { 'one/package.json': { agent: { main: '../../../secret/other.ts' } } }],
    ['an import of a file outside', { 'one.ts': "import '../../secret/other.ts';" }],
    ['an import of an import outside', { 'one.ts': "import './two/x.ts';", 'two/x.ts': "export * from '../../../secret/other.ts';" }],
  ] as const)('%s is refused', ([, files]) => {
    expect(project(files)[0]?.problem).toEqual({ reason: expect.stringMatching(/which leaves .*\.agent$/), hint: expect.stringContaining('trust') });
  });
});
