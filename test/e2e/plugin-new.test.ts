/** What `agent plugin new` writes installs, type-checks, passes its own tests, and loads: every variant. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { startModelServer } from '../support/model-server.ts';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const tsc = join(checkout, 'node_modules/typescript/bin/tsc');
const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
/** The Node of the tests comes first, and npm below it is the machine's. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, NO_COLOR: '1' };

const variants = ['tool', 'command', 'hook'].flatMap((kind) => [false, true].map((js) => ({ id: `a-${kind}${js ? '-js' : ''}`, kind, js })));

let place: Place;
beforeAll(async () => {
  place = createPlace();
  // The types that a plugin sees are those of the build.
  await run(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: checkout });
}, 60_000);
afterAll(() => place.remove());

const folderOf = (id: string): string => join(place.workspace, id);

test('every variant is written', async () => {
  for (const { id, kind, js } of variants) expect(await place.agent(['plugin', 'new', id, '--kind', kind, ...(js ? ['--js'] : [])])).toMatchObject({ code: 0 });
  expect(readdirSync(place.workspace).sort()).toEqual(variants.map(({ id }) => id).sort());
}, 60_000);

test('their tests pass and their types hold, with the packages of the checkout', async () => {
  const modules = join(place.workspace, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(checkout, 'node_modules'))) if (!name.startsWith('.')) symlinkSync(join(checkout, 'node_modules', name), join(modules, name));
  symlinkSync(checkout, join(modules, 'newt-agent'));
  const report = join(place.root, 'report.json');
  await run(process.execPath, [vitest, 'run', '--testTimeout=60000', '--reporter=json', `--outputFile=${report}`], { cwd: place.workspace, env });
  const told = JSON.parse(readFileSync(report, 'utf8')) as { numPassedTests: number; numFailedTests: number; testResults: readonly object[] };
  expect(told).toMatchObject({ numFailedTests: 0 });
  expect(told.testResults.length).toBe(variants.length);
  for (const { id, js } of variants) {
    // JavaScript needs no compiler; that what its comments say is right is for us to know.
    const plain = ['--allowJs', '--checkJs', '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--lib', 'es2024,esnext.disposable', '--module', 'nodenext', '--types', 'node', 'index.js', 'index.test.js'];
    await run(process.execPath, [tsc, ...(js ? plain : [])], { cwd: folderOf(id) });
  }
}, 120_000);

test('they load, and do what they say', async () => {
  for (const { id } of variants) expect(await place.agent(['plugin', 'add', folderOf(id), '--yes'])).toMatchObject({ code: 0 });
  const list = JSON.parse((await place.agent(['plugin', 'list', '--json'])).stdout) as { id: string; state: string }[];
  for (const { id } of variants) expect(list.find((one) => one.id === id)).toMatchObject({ state: expect.stringMatching(/^(activated|resolved)$/) as string });
  expect(await place.agent(['a-command', 'Ada'])).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' });
  expect(await place.agent(['a-command-js', 'Ada', '--json'])).toMatchObject({ code: 0, stdout: '{"greeting":"Hello, Ada!"}\n' });
  await using server = await startModelServer([{ toolCalls: [{ name: 'a_tool_js_greet', arguments: { name: 'Ada' } }] }, { text: 'greeted' }]);
  expect(await place.agent(['run', 'greet Ada'], { env: { AGENT_BASE_URL: server.url, AGENT_MODEL: 'test' } })).toMatchObject({ code: 0, stdout: 'greeted\n', stderr: '' });
  expect(server.requests[1]?.body.messages.at(-1)?.content).toBe('Hello, Ada!');
}, 60_000);

test('npm install, npm test, npm run check, as its README says', async ({ skip }) => {
  const other = createPlace();
  try {
    expect((await other.agent(['plugin', 'new', 'word-count'])).code).toBe(0);
    const cwd = join(other.workspace, 'word-count');
    const npm = (...args: string[]) => run('npm', args, { cwd, env, timeout: 200_000 });
    await npm('install', '--prefer-offline', '--no-audit', '--no-fund').catch((error: Error & { stderr?: string }) => {
      if (/ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ECONNRESET/.test(error.stderr ?? '')) skip('the npm registry cannot be reached');
      throw error;
    });
    expect((await npm('test', '--', '--testTimeout=60000')).stdout).toMatch(/4 passed/);
    await npm('run', 'check');
    expect((await npm('pack', '--dry-run', '--json')).stdout).toMatch(/"path": "index\.ts"/);
    expect(await other.agent(['plugin', 'dev', '--once'], { cwd })).toMatchObject({ code: 0, stdout: expect.stringContaining('types: no error') as string });
  } finally {
    other.remove();
  }
}, 300_000);
