/** A configuration that is wrong in several places: all of them are told, and what is right counts. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { temporaryFolder } from '../../test/support/boot.ts';
import { inspectConfig } from './inspect.ts';
import { composeConfig } from './schema.ts';

const schema = composeConfig({
  model: z.string().optional().meta({ from: 'trusted-project' }),
  rounds: z.int().default(50).meta({ from: 'any' }),
  providers: z.record(z.string(), z.strictObject({ url: z.string(), key: z.string().optional() })).default({}),
});

function inspect(global: string, { project, env = {}, trusted = false }: { project?: string; env?: Record<string, string>; trusted?: boolean } = {}) {
  const root = temporaryFolder();
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const paths = { global: join(root, 'config.yaml'), project: join(root, '.agent', 'config.yaml'), empty: join(root, 'cache', 'empty') };
  writeFileSync(paths.global, global);
  mkdirSync(join(root, '.agent'));
  if (project !== undefined) writeFileSync(paths.project, project);
  return inspectConfig({ schema, paths, env, projectTrusted: trusted });
}

test('what is right has no problems', async () => {
  const { config, problems } = await inspect('model: a\nrounds: 3\n');
  expect(problems).toEqual([]);
  expect(config.values).toMatchObject({ model: 'a', rounds: 3 });
});

test('every problem of every layer, with its place and value, and the rest counts', async () => {
  const { config, problems } = await inspect('model: a\nrounds: many\nbogus: 1\nproviders:\n  lab: { url: x, kee: sk }\n  two: { url: y }\n', { env: { AGENT_ROUNDS: 'x', AGENT_PLUGINS__DISABLD: '[]' } });
  expect(problems.map(({ key, line, variable, value }) => ({ key, line, variable, value })).sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual([
    { key: 'bogus', line: 3, variable: undefined, value: 1 },
    { key: 'plugins.disabld', line: undefined, variable: 'AGENT_PLUGINS__DISABLD', value: '[]' },
    { key: 'providers.lab.kee', line: 5, variable: undefined, value: 'sk' },
    { key: 'rounds', line: undefined, variable: 'AGENT_ROUNDS', value: 'x' },
    { key: 'rounds', line: 2, variable: undefined, value: 'many' },
  ]);
  expect(problems.find(({ key }) => key === 'bogus')?.why).toMatch(/^no such key/);
  expect(config.values).toMatchObject({ model: 'a', rounds: 50, providers: { lab: { url: 'x' }, two: { url: 'y' } } });
});

test('a member that is missing leaves out the thing it is missing of', async () => {
  const { config, problems } = await inspect('providers:\n  lab: { key: k }\n  two: { url: y }\n');
  expect(problems).toMatchObject([{ key: 'providers.lab', line: 2 }]);
  expect(config.values.providers).toEqual({ two: { url: 'y' } });
});

test('a file that is no YAML is left out as a whole, and so is a wrong one that nobody trusts', async () => {
  expect((await inspect('a: [', { project: 'rounds: 4\n' })).config.values.rounds).toBe(4);
  expect((await inspect('a: [')).problems).toMatchObject([{ key: '', why: expect.stringMatching(/\w/) as string }]);
  const foreign = await inspect('', { project: 'rounds: 4\nbogus: 1\n' });
  expect(foreign.config.values.rounds).toBe(50);
  expect((await inspect('', { project: 'rounds: 4\nbogus: 1\n', trusted: true })).config.values.rounds).toBe(4);
});

test('a required variable that is not set', async () => {
  const { config, problems } = await inspect('model: ${NO_SUCH}\nrounds: 4\n');
  expect(problems).toMatchObject([{ key: 'model', line: 1, value: '${NO_SUCH}', why: 'the variable NO_SUCH is not set' }]);
  expect(config.values).toMatchObject({ rounds: 4 });
});
