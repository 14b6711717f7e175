/** Loading real module files through the kernel: what comes up, and what is told of what does not. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { boot, type Stage, stopwatch, temporaryFolder } from '../test/support/boot.ts';
import { discoverFolder } from './discover.ts';
import * as face from './index.ts';

declare global {
  /** Written by modules under test. */
  var evaluated: Record<string, number> | undefined;
}

/** A kernel with the plugins of a folder with these files. */
async function stageOf(files: Readonly<Record<string, string>>): Promise<Stage> {
  const folder = temporaryFolder();
  const plugins = join(folder, 'global');
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(plugins, path)), { recursive: true });
    writeFileSync(join(plugins, path), content);
  }
  const stage = await boot([], { folder, candidates: discoverFolder('global', plugins), virtualModules: async () => ({ 'newt-agent': { ...face, z }, zod: await import('zod') }) });
  onTestFinished(() => stage[Symbol.asyncDispose]());
  return stage;
}

const counting = (id: string) => `globalThis.evaluated = { ...globalThis.evaluated, '${id}': (globalThis.evaluated?.['${id}'] ?? 0) + 1 };\n`;
const esm = (id: string) => `import { definePlugin } from 'newt-agent';\n${counting(id)}export default definePlugin({ id: '${id}' }, () => {});\n`;
const states = (stage: Stage) => Object.fromEntries(stage.kernel.plugins().map(({ id, state }) => [id, state]));

describe('what comes up', () => {
  test('modules of every extension, each evaluated once', async () => {
    globalThis.evaluated = {};
    const stage = await stageOf({
      'ts.ts': esm('ts').replace('() => {}', '(p: { id: string }): void => {}'),
      'mts.mts': esm('mts'),
      'js.js': esm('js'),
      'mjs.mjs': esm('mjs'),
      'cjs.cjs': `const { definePlugin } = require('newt-agent');\n${counting('cjs')}module.exports = definePlugin({ id: 'cjs' }, () => {});\n`,
      'folder/index.ts': `import { helper } from './helper.ts';\n${esm('folder')}helper();\n`,
      'folder/helper.ts': 'export function helper(): void {}\n',
    });
    expect(stage.faults).toEqual([]);
    expect(states(stage)).toEqual({ ts: 'activated', mts: 'activated', js: 'activated', mjs: 'activated', cjs: 'activated', folder: 'activated' });
    expect(globalThis.evaluated).toEqual({ ts: 1, mts: 1, js: 1, mjs: 1, cjs: 1, folder: 1 });
  });

  test('a top-level await, in the plugin or in what it imports', async () => {
    const stage = await stageOf({ 'one.ts': `await new Promise((resolve) => setTimeout(resolve, 5));\n${esm('one')}`, 'two/index.ts': `import './late.ts';\n${esm('two')}`, 'two/late.ts': 'export const late = await Promise.resolve(1);\n' });
    expect(states(stage)).toEqual({ one: 'activated', two: 'activated' });
  });

  test('the host it runs on, not a copy of its own', async () => {
    const stage = await stageOf({ 'one.ts': "import { definePlugin, OperationalError } from 'newt-agent';\nimport { z } from 'zod';\nexport default definePlugin({ id: 'one' }, () => { globalThis.evaluated = { OperationalError, z } as never; });\n" });
    expect(stage.faults).toEqual([]);
    expect(globalThis.evaluated).toMatchObject({ OperationalError: face.OperationalError, z });
  });

  test('two starts at once load a plugin once', async () => {
    globalThis.evaluated = {};
    const stage = await stageOf({ 'one/package.json': JSON.stringify({ agent: { activateOn: ['a', 'b'] } }), 'one/index.ts': esm('one') });
    expect(states(stage)).toEqual({ one: 'resolved' });
    await Promise.all([stage.kernel.fire('a'), stage.kernel.fire('b'), stage.kernel.fire('a')]);
    expect(states(stage)).toEqual({ one: 'activated' });
    expect(globalThis.evaluated).toEqual({ one: 1 });
  });
});

describe('what does not come up is told with its place, and the rest starts', () => {
  const broken: readonly (readonly [title: string, code: string, message: RegExp, place: string | undefined])[] = [
    ['throws', "const x = 1;\nthrow new Error('at load');\n", /at load/, 'bad.ts:2'],
    ['throws a string', "throw 'at load';\n", /threw at load/, undefined],
    ['has a syntax error', 'const x = 1;\nconst y = = 2;\n', /Unexpected token/, 'bad.ts:2'],
    ['awaits where it cannot', 'function f() {\n  await g();\n}\n', /await/, 'bad.ts:2'],
    ['imports a package that is not there', "const x = 1;\nimport { y } from 'no-such-package-at-all';\ny();\n", /bad\.ts:2 imports "no-such-package-at-all", which is not installed/, undefined],
    ['imports a file that is not there', "import './gone.ts';\n", /bad\.ts:1 imports "\.\/gone\.ts"/, undefined],
    ['has no default export', 'export const x = 1;\n', /no default export made with definePlugin/, undefined],
    ['exports something else', 'export default { id: "bad" };\n', /no default export made with definePlugin/, undefined],
    ['exports nothing', '', /no default export made with definePlugin/, undefined],
  ];
  test.for(broken)('a plugin that %s', async ([, code, message, place]) => {
    const stage = await stageOf({ 'bad.ts': code, 'good.ts': esm('good') });
    expect(states(stage)).toEqual({ bad: 'quarantined', good: 'activated' });
    const [fault] = stage.faults;
    expect(fault).toMatchObject({ plugin: 'bad', kind: 'load', where: 'load', message: expect.stringMatching(message) });
    if (place) expect(fault?.place ? `${fault.place.file}:${fault.place.line}` : fault?.message).toContain(place);
  });

  test('a plugin that never comes up is given up a while after the others, with the line that waits', async () => {
    const time = stopwatch();
    const stage = await stageOf({ 'bad.ts': 'const x = 1;\nawait new Promise(() => {});\n', 'good.ts': esm('good') });
    expect(states(stage)).toEqual({ bad: 'quarantined', good: 'activated' });
    expect(time()).toBeLessThan(15_000);
    expect(stage.faults).toMatchObject([{ plugin: 'bad', message: expect.stringMatching(/bad\.ts:2 did not finish loading/) }]);
  });

  test('a module that failed is evaluated again when it is tried again', async () => {
    globalThis.evaluated = {};
    const stage = await stageOf({ 'one.ts': `${counting('one')}if (globalThis.evaluated.one < 2) throw new Error('first');\n${esm('one').replace(counting('one'), '')}` });
    expect(states(stage)).toEqual({ one: 'quarantined' });
    await stage.kernel.release('one');
    expect(states(stage)).toEqual({ one: 'activated' });
    expect(globalThis.evaluated).toEqual({ one: 2 });
  });

  test('the place of a fault is that of the source, in the file of the plugin it lies in', async () => {
    const code = ["import { definePlugin } from 'newt-agent';", "import { fail } from './lib/deep.ts';", 'interface Gone { readonly typed: string }', '', 'export default definePlugin({}, () => {', '  fail();', '});'].join('\n');
    const stage = await stageOf({ 'one/package.json': JSON.stringify({ agent: { main: 'src/index.ts' } }), 'one/src/index.ts': code.replace('./lib', '../lib'), 'one/lib/deep.ts': 'export interface Gone { x: 1 }\n\nexport function fail(): never {\n  throw new TypeError("deep");\n}\n' });
    expect(stage.faults).toMatchObject([{ plugin: 'one', kind: 'setup', place: { file: 'lib/deep.ts', line: 4 } }]);
  });
});
