import { readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { builtin } from '../../kernel/discover.ts';
import type { PluginDefinition } from '../../kernel/index.ts';
import type { Candidate } from '../../kernel/lifecycle.ts';
import { complete } from '../../kernel/manifest.ts';
import { homePaths } from '../../kernel/paths.ts';
import { temporaryFolder } from '../support/boot.ts';
import { build, type Built } from './pipeline.ts';
import * as plugins from './plugins.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'site'));
  writeFileSync(join(folder, 'site', 'guide.md'), '# Guide\n\nRead it & weep.\n\n## First\n\nOne\nstep.\n\n## Second\n\n<end>\n');
  writeFileSync(join(folder, 'site', 'todo.md'), '# To do\n\nA draft, not to be shown.\n');
});

/** An installed plugin, in a folder that stands for its source. */
function installed(definition: PluginDefinition): Candidate {
  const id = definition.static.id ?? '';
  const path = join(folder, 'installed', id);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'index.js'), id);
  return { ...builtin(complete(definition.static, id), async () => ({ default: definition })), tier: 'npm', path, entry: join(path, 'index.js') };
}

const run = (...used: readonly PluginDefinition[]): Promise<Built> => build(join(folder, 'site'), join(folder, 'out'), homePaths({ AGENT_HOME: join(folder, 'home') }), used.map(installed));
const output = (name: string) => readFileSync(join(folder, 'out', name), 'utf8');

const guide = '<h1>Guide</h1>\n<p>Contents: First, Second</p>\n<p>Read it &#38; weep.</p>\n<h2>First</h2>\n<p>One step.</p>\n<h2>Second</h2>\n<p>&#60;end&#62;</p>\n';

test('three plugins that do not know each other build a site', async () => {
  expect(await run(plugins.markdown, plugins.contents, plugins.html)).toEqual({ written: ['guide.html', 'todo.html'], held: [], faults: [] });
  expect(output('guide.html')).toBe(guide);
});

test('a guard holds a page back', async () => {
  expect(await run(plugins.markdown, plugins.contents, plugins.html, plugins.drafts)).toEqual({ written: ['guide.html'], held: ['todo'], faults: [] });
});

test('a broken fourth plugin costs its own part, and is named', async () => {
  const { written, faults } = await run(plugins.markdown, plugins.contents, plugins.html, plugins.broken);
  expect(written).toEqual(['guide.html', 'todo.html']);
  expect(output('guide.html')).toBe(guide);
  expect(new Set(faults.map(({ plugin }) => plugin))).toEqual(new Set(['broken']));
  expect(new Set(faults.map(({ where }) => where))).toEqual(new Set(['hook page.transform', 'formats/txt.render', 'formats/pdf.render']));
  // The next build settles the matter, and the one after it knows.
  expect(new Set((await run(plugins.markdown, plugins.contents, plugins.html, plugins.broken)).faults.map(({ plugin }) => plugin))).toEqual(new Set(['broken']));
  expect(await run(plugins.markdown, plugins.contents, plugins.html, plugins.broken)).toEqual({ written: ['guide.html', 'todo.html'], held: [], faults: [] });
});

test('without its parser the site says what is missing', async () => {
  await expect(run(plugins.contents, plugins.html)).rejects.toThrow('the service pages.parser is not provided');
});
