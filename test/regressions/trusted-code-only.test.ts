/**
 * Trust covers the content of `.agent`. Code from elsewhere ran all the same: through a manifest that points
 * out of it, a package that pulls in its neighbour, a computed or escaped name; and a plugin that is loaded
 * late ran as it was then, not as it had been trusted.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { startModelServer } from '../support/model-server.ts';

let place: Place;
afterEach(() => place.remove());

const marker = (file: string) => `require('node:fs').writeFileSync(${JSON.stringify(file)}, '');\nmodule.exports = {};\n`;
const plugin = (body: string) => `import { definePlugin } from 'newt-agent';\n${body}\nexport default definePlugin({}, () => ({}));\n`;

const ways: [name: string, files: Record<string, string>][] = [
  ['a manifest of a folder', { '.agent/plugins/x.ts': plugin("import './lib/b';"), '.agent/plugins/lib/b/package.json': '{ "main": "../../../../outside.js" }' }],
  ['a package that pulls in its neighbour', { '.agent/plugins/x.ts': plugin("import 'foo';"), '.agent/node_modules/foo/index.js': "require('../../../outside.js');\n" }],
  ['a manifest of a package', { '.agent/plugins/x.ts': plugin("import 'foo';"), '.agent/node_modules/foo/package.json': '{ "main": "../../../outside.js" }' }],
  ['the repository by its own name', { '.agent/plugins/x.ts': plugin("import 'rootpkg/x';"), 'package.json': '{ "name": "rootpkg", "exports": { "./x": "./outside.js" } }' }],
  ['a file of another extension', { '.agent/plugins/x.ts': plugin("require('./y.foo');"), '.agent/plugins/y.foo': "require('../../outside.js');\n" }],
  ['an escaped name', { '.agent/plugins/x.ts': plugin('import "..\\u002f..\\u002foutside.js";') }],
  ['a computed name', { '.agent/plugins/x.ts': plugin("require(['..', '..', 'outside.js'].join('/'));") }],
  ['a native import of a computed name', { '.agent/plugins/x.ts': plugin("await import(new URL('../../outside.js', `file://${__filename}`).href);") }],
];

test.each(ways)('code outside of the trusted folder does not run: %s', async (_, files) => {
  place = createPlace();
  const mark = join(place.root, 'marker');
  place.write({ ...files, 'outside.js': marker(mark) });
  expect((await place.agent(['trust', 'grant'])).code).toBe(0);
  const list = await place.agent(['plugin', 'list', '--json']);
  expect(existsSync(mark)).toBe(false);
  const x = (JSON.parse(list.stdout) as { id: string; state: string; reason: string }[]).find(({ id }) => id === 'x');
  expect(x?.state).toMatch(/refused|quarantined/);
  expect(x?.reason).toMatch(/leaves|imports/);
});

test('packages in the trusted folder, and what Node brings, do run', async () => {
  place = createPlace();
  place.write({
    '.agent/plugins/x.ts': plugin("import path from 'node:path';\nimport foo from 'foo';\nimport { z } from 'zod';\nif (foo() !== 'foo' || !path.sep || !z.object) throw new Error('wrong');"),
    '.agent/node_modules/foo/package.json': '{ "main": "main.js" }',
    '.agent/node_modules/foo/main.js': "const bar = require('bar');\nmodule.exports = () => bar;\n",
    '.agent/node_modules/bar/index.js': "module.exports = 'foo';\n",
  });
  await place.agent(['trust', 'grant']);
  const list = await place.agent(['plugin', 'list', '--json']);
  expect(JSON.parse(list.stdout)).toContainEqual(expect.objectContaining({ id: 'x', state: 'activated' }));
});

test('a plugin that is loaded late is looked at again', async () => {
  await using server = await startModelServer([
    { toolCalls: [{ name: 'run_command', arguments: { command: 'cp evil.ts .agent/plugins/late/index.ts' } }] },
    { toolCalls: [{ name: 'late_tool', arguments: {} }] },
    { text: 'done' },
  ]);
  place = createPlace(server.url);
  const mark = join(place.root, 'marker');
  const late = (body: string) => `import { definePlugin, tool, z } from 'newt-agent';\n${body}\nexport default definePlugin({}, () => ({ tools: { late_tool: tool({ description: 'x', input: z.object({}), effect: 'read', run: () => 'ran' }) } }));\n`;
  place.write({
    '.agent/plugins/late/package.json': JSON.stringify({ name: 'late', agent: { id: 'late', main: 'index.ts', activateOn: ['tool:late_tool'] } }),
    '.agent/plugins/late/index.ts': late(''),
    'evil.ts': late(`import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(mark)}, '');`),
  });
  await place.agent(['trust', 'grant']);
  const done = await place.agent(['run', '--yes', 'go']);
  expect(done.code).toBe(0);
  expect(existsSync(mark)).toBe(false);
});
