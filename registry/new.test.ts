import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { boot, type Place, place, type RunOptions } from './commands.testing.ts';
import { kinds, pluginFiles } from './template.ts';

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.remove());

async function make(id: string, options: NonNullable<RunOptions['options']> = {}) {
  await using agent = await boot(at);
  return agent.run('plugin new', { arguments: { id }, options: { dir: join(at.root, 'new', id), ...options } });
}

it('writes a plugin of the id, and says what comes next', async () => {
  const { code, out, err } = await make('word-count');
  const folder = join(at.root, 'new/word-count');
  expect(code).toBe(0);
  expect(out).toBe(`Wrote word-count (${folder}): package.json, index.ts, index.test.ts, tsconfig.json, README.md`);
  expect(err).toContain(`  cd ${folder}\n  npm install && npm test\n  agent plugin dev`);
  expect(err).toContain('then: agent run "greet Ada"');
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  expect(JSON.parse(read('package.json'))).toMatchObject({
    name: 'agent-plugin-word-count',
    files: ['index.ts', 'README.md'],
    keywords: ['agent-plugin'],
    agent: { id: 'word-count', engine: '>=0.1.0', main: 'index.ts' },
    devDependencies: { 'newt-agent': `file:${join(import.meta.dirname, '..')}` },
  });
  expect(read('package.json')).toContain('"keywords": ["agent-plugin"],');
  expect(read('index.ts')).toContain("definePlugin({ id: 'word-count' }, () => ({\n  tools: { word_count_greet: greet },");
  expect(read('index.test.ts')).toContain("agent.tool('word_count_greet', ");
  expect(read('README.md')).toMatch(/^# word-count\n[\s\S]*agent plugin faults word-count/);
  expect(read('.npmrc')).toBe('ignore-scripts=true\n');
});

it('nothing of the template\'s id is left, whatever the kind', () => {
  for (const kind of kinds) {
    for (const js of [false, true]) {
      const files = pluginFiles({ id: 'a-b', kind, js, host: join(import.meta.dirname, '..'), version: '1.2.3' });
      expect(Object.entries(files).filter(([, text]) => /hello|file:\.\./.test(text)).map(([name]) => name)).toEqual([]);
      expect(files['package.json']).toContain('">=1.2.3"');
      expect(Object.keys(files).some((name) => name.endsWith(js ? '.ts' : '.js'))).toBe(false);
      if (js) expect(Object.values(files).join()).not.toMatch(/index\.ts|typescript"/);
      if (kind === 'command') expect(files[`index.${js ? 'js' : 'ts'}`]).toContain("commands: { 'a-b': greet }");
    }
  }
});

it('prints JSON for programs', async () => {
  const folder = join(at.root, 'new/keys');
  expect((await make('keys', { kind: 'hook', js: true, json: true })).json).toEqual({ id: 'keys', kind: 'hook', folder, files: ['package.json', 'index.js', 'index.test.js', 'README.md', '.gitignore', '.npmrc'] });
});

it('refuses what could not work', async () => {
  expect(await make('Word Count')).toMatchObject({ code: 2, err: expect.stringContaining('is not a plugin id') as string });
  expect(await make('registry')).toMatchObject({ code: 2, err: expect.stringContaining('built-in plugin') as string });
  expect(await make('trust', { kind: 'command' })).toMatchObject({ code: 2, err: expect.stringContaining('"agent trust" is a command already') as string });
  expect(await make('good', { kind: 'gadget' })).toMatchObject({ code: 2, err: expect.stringContaining('--kind is one of tool, command, hook') as string });
});

it('writes over nothing', async () => {
  mkdirSync(join(at.root, 'new/empty'), { recursive: true });
  expect((await make('empty')).code).toBe(0);
  expect(await make('empty')).toMatchObject({ code: 2, err: expect.stringContaining('is not empty') as string });
  writeFileSync(join(at.root, 'new/file'), '');
  expect(await make('file')).toMatchObject({ code: 2, err: expect.stringContaining('is a file') as string });
  expect(await make('below', { dir: join(at.root, 'new/file/below') })).toMatchObject({ code: 1, err: expect.stringContaining('cannot be written') as string });
});

it('tells of a plugin with the same id', async () => {
  at.plugin('home/config/plugins/taken', { id: 'taken' });
  expect(await make('taken')).toMatchObject({ code: 0, err: expect.stringContaining('There is a plugin taken already (global') as string });
});

test.each(kinds)('the JavaScript of the kind %s is its TypeScript without types', (kind) => {
  const template = join(import.meta.dirname, '../plugin-template');
  const typed = readFileSync(join(template, kind === 'tool' ? '' : `kinds/${kind}`, 'index.ts'), 'utf8');
  const plain = readFileSync(join(template, 'kinds', kind, 'index.js'), 'utf8');
  const bare = (code: string): string => code.replace(/\/\*\*[\s\S]*?\*\/|\/\/ @ts-check/g, '').replace(/\s+/g, ' ').replace(/ ?([(){},]) ?/g, '$1').replaceAll(',}', '}').trim();
  expect(bare(plain)).toBe(bare(stripTypeScriptTypes(typed)));
});
