/** The catalog: it is read with care, searched sensibly, and says of every first-party plugin what its package.json says. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'newt-agent';
import semver from 'semver';
import { describe, expect, test } from 'vitest';
import { readManifest } from '../kernel/manifest.ts';
import { temporaryFolder } from '../test/support/boot.ts';
import { agentFolder, type Catalog, catalogFile, catalogSchema, packageFolder, readCatalog, searchCatalog } from './catalog.ts';

const root = join(import.meta.dirname, '..');
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string; files: string[] };
const catalog = readCatalog();

test('it lies in the package, with the folders it names', () => {
  expect(catalogFile()).toBe(join(root, 'registry', 'catalog.json'));
  for (const from of ['registry', 'dist', 'dist/chunks']) expect(agentFolder(join(root, from))).toBe(root);
  expect(own.files).toEqual(expect.arrayContaining(['registry/catalog.json', 'registry/packages']));
});

test('catalog.schema.json is what the schema says (npx vitest run registry/catalog -u writes it)', async () => {
  const { $schema, ...rest } = z.toJSONSchema(catalogSchema, { io: 'input', target: 'draft-7' });
  await expect(`${JSON.stringify({ $schema, title: 'Catalog of newt-agent', ...rest }, null, 2)}\n`).toMatchFileSnapshot('./catalog.schema.json');
  expect(JSON.parse(readFileSync(catalogFile(), 'utf8'))).toMatchObject({ $schema: './catalog.schema.json' });
});

describe('every first-party plugin', () => {
  test('is in the catalog', () => {
    const folders = readdirSync(join(root, 'registry', 'packages'), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(Object.values(catalog).map(({ folder }) => folder).sort()).toEqual(folders.sort());
  });

  test.for(Object.entries(catalog))('%s is what the catalog says', ([id, entry]) => {
    const folder = packageFolder(entry);
    const stated = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown> & { keywords: string[]; version: string; files: string[] };
    const found = readManifest(folder, 'nobody');
    expect(stated['name']).toBe(entry.package);
    expect(entry.package).toBe(`agent-plugin-${id}`);
    expect(stated['description']).toBe(entry.description);
    expect(stated.keywords).toEqual(['agent-plugin', ...entry.keywords]);
    expect(semver.valid(stated.version)).toBe(stated.version);
    expect(stated['license']).toBe('MIT');
    expect(stated['type']).toBe('module');
    expect(found?.manifest).toMatchObject({ id, version: stated.version, capabilities: entry.capabilities });
    expect(found?.manifest.engine).not.toBe('*');
    expect(semver.satisfies(own.version, found?.manifest.engine ?? '')).toBe(true);
    expect(existsSync(join(folder, found?.main ?? 'index.ts'))).toBe(true);
    // Nothing is built or run when it is installed.
    expect(Object.keys((stated['scripts'] ?? {}) as object).filter((name) => /^(pre|post)?(install|prepare|pack|publish)/.test(name))).toEqual([]);
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`agent plugin add ${id}`);
    const files = readdirSync(folder);
    expect(files.some((name) => name.endsWith('.test.ts'))).toBe(true);
    // Its own tarball has all that runs.
    expect(stated.files).toSatisfy((list: readonly string[]) => list.includes('*.ts') || list.includes('**/*.ts'));
    expect(stated.files).toSatisfy((list: readonly string[]) => list.includes('!*.test.ts') || list.includes('!**/*.test.ts'));
  });
});

describe('what is wrong with it is said with file, key and fix', () => {
  const file = join(temporaryFolder(), 'catalog.json');
  const entry = { package: 'agent-plugin-git', folder: 'git', description: 'x', keywords: [], capabilities: [] };
  const withGit = (change: object): string => JSON.stringify({ version: 1, plugins: { git: { ...entry, ...change } } });

  test.for([
    ['{', /JSON: /],
    ['[]', /the file: .*expected object/],
    ['{"version":2,"plugins":{}}', /version: /],
    ['{"version":1,"plugins":{},"plugin":{}}', /Unrecognized key: "plugin"/],
    [withGit({ folder: '../../elsewhere' }), /plugins\.git\.folder: must be the name of a folder/],
    [withGit({ folder: undefined }), /plugins\.git\.folder: /],
    [withGit({ package: '--global' }), /plugins\.git\.package: must be a package name/],
    [withGit({ description: 'a\u001b[2Jb' }), /plugins\.git\.description: must be one line/],
    [withGit({ version: '1' }), /plugins\.git: Unrecognized key: "version"/],
    [JSON.stringify({ version: 1, plugins: { Git: entry } }), /plugins\.Git: must be a plugin id/],
    [JSON.stringify({ version: 1, plugins: Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`p${index}`, entry])) }), /plugins: must be at most 1000/],
    [' '.repeat(1_000_001), /the file: it has more than 1000000 bytes/],
  ] as const)('%#', ([text, message]) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    const reading = (): Catalog => readCatalog(file);
    expect(reading).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', hint: expect.stringContaining('catalog.schema.json') }));
    expect(reading).toThrow(message);
    expect(reading).toThrow(file);
  });

  test('a file that is not there', () => {
    expect(() => readCatalog(join(file, 'nowhere'))).toThrow(expect.objectContaining({ code: 'CONFIG_UNREADABLE', message: expect.stringContaining('nowhere') }));
  });
});

describe('searching', () => {
  const one = (description: string, keywords: string[] = []) => ({ package: 'agent-plugin-x', folder: 'x', description, keywords, capabilities: [] });
  const some: Catalog = {
    history: one('Shows what happened', ['git']),
    git: one('Works with repositories', ['vcs', 'version-control']),
    github: one('Issues and pull requests'),
    legit: one('Checks licences'),
    notes: one('Keeps notes in git, as JSON'),
  };
  const ids = (words: string | string[]): string[] => searchCatalog(some, words).map(({ id }) => id);

  test('id, keywords, description; whole, begun, contained', () => {
    expect(ids('git')).toEqual(['git', 'github', 'legit', 'history', 'notes']);
    expect(ids('VERSION')).toEqual(['git']);
    expect(ids('licences')).toEqual(['legit']);
  });

  test('who fits more words comes first, and who fits none does not', () => {
    expect(ids('git json')[0]).toBe('notes');
    expect(ids(['git', 'json'])).toEqual(ids('git json'));
    expect(ids('nothing-like-it')).toEqual([]);
  });

  test('without words it is all of them, by id', () => {
    expect(ids('')).toEqual(['git', 'github', 'history', 'legit', 'notes']);
  });
});
