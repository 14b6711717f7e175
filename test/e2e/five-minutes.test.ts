/** From "I want a tool" to a plugin that others install: new → test → pack → add → run → update → rollback → remove. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openInstallPlace } from '../support/install-place.ts';
import { startModelServer } from '../support/model-server.ts';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, NO_COLOR: '1' };

test('a plugin’s life', { timeout: 300_000 }, async () => {
  await using at = await openInstallPlace();
  const { place, registry } = at;
  const folder = join(place.workspace, 'word-count');
  const name = 'agent-plugin-word-count';

  // new
  expect(await at.plugin(['new', 'word-count'])).toMatchObject({ code: 0 });

  // test: with the packages of the checkout, as `npm install` would put them there
  const modules = join(place.workspace, 'node_modules');
  mkdirSync(modules);
  for (const one of readdirSync(join(checkout, 'node_modules'))) if (!one.startsWith('.')) symlinkSync(join(checkout, 'node_modules', one), join(modules, one));
  symlinkSync(checkout, join(modules, 'newt-agent'));
  const report = join(place.root, 'report.json');
  await run(process.execPath, [join(checkout, 'node_modules/vitest/vitest.mjs'), 'run', '--testTimeout=60000', '--reporter=json', `--outputFile=${report}`], { cwd: folder, env });
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ numFailedTests: 0, success: true });
  expect(await at.plugin(['dev', '--once', folder])).toMatchObject({ code: 0 });

  // pack, and publish: the registry is one on loopback
  const packageFile = join(folder, 'package.json');
  const publish = async (version: string): Promise<void> => {
    writeFileSync(packageFile, readFileSync(packageFile, 'utf8').replace(/"version": "[^"]+"/, `"version": "${version}"`));
    const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', place.root], { cwd: folder, env });
    const [{ filename } = { filename: '' }] = JSON.parse(stdout) as { filename: string }[];
    const { devDependencies: _, scripts: __, ...manifest } = JSON.parse(readFileSync(packageFile, 'utf8')) as Record<string, unknown>;
    registry.publish({ name, version, manifest, tarball: readFileSync(join(place.root, filename)) });
  };
  await publish('0.1.0');

  // add
  const added = await at.plugin(['add', `${name}@^0.1.0`, '--yes']);
  expect(added.stdout, added.stderr).toBe(`Added word-count 0.1.0 (${name})\n`);

  // run
  const greeting = async (): Promise<string> => {
    await using server = await startModelServer([{ toolCalls: [{ name: 'word_count_greet', arguments: { name: 'Ada' } }] }, { text: 'greeted' }]);
    expect(await at.agent(['run', 'greet Ada'], { env: { AGENT_BASE_URL: server.url, AGENT_MODEL: 'test' } })).toMatchObject({ code: 0, stdout: 'greeted\n' });
    return String(server.requests[1]?.body.messages.at(-1)?.content);
  };
  expect(await greeting()).toBe('Hello, Ada!');
  expect(await greeting()).toBe('Hello, Ada!'); // out of the index, and warm

  // update
  const code = join(folder, 'index.ts');
  writeFileSync(code, readFileSync(code, 'utf8').replaceAll('Hello, ', 'Good day, '));
  await publish('0.1.1');
  expect((await at.plugin(['outdated'])).stdout).toContain('0.1.1');
  const updated = await at.plugin(['update', '--all', '--yes']);
  expect(updated, updated.stderr).toMatchObject({ code: 0 });
  expect(await greeting()).toBe('Good day, Ada!');

  // rollback
  const back = await at.plugin(['rollback', 'word-count']);
  expect(back, back.stderr).toMatchObject({ code: 0 });
  expect(await greeting()).toBe('Hello, Ada!');

  // remove
  expect(await at.plugin(['remove', 'word-count', '--yes'])).toMatchObject({ code: 0 });
  expect(at.entries()).toEqual({});
  expect(at.leftovers()).toEqual([]);
});
