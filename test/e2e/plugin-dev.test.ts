/** `agent plugin dev` on real folders: what it says of a plugin, and that it outlives what the plugin does. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { until } from '../support/boot.ts';

const bin = fileURLToPath(new URL('../../plugins-builtin/bin.cjs', import.meta.url));
/** Milliseconds for one look, on a busy machine. */
const patience = 30_000;

let place: Place;
beforeEach(() => {
  place = createPlace();
});
afterEach(() => place.remove());

const code = (body: string, before = ''): string => `import { definePlugin, tool, z } from 'newt-agent';\n${before}\nexport default definePlugin({ id: 'mine' }, (p) => (${body}));\n`;
const greet = "{ tools: { greet: tool({ description: 'd', input: z.object({}), effect: 'read', run: () => 'hi' }) } }";

function plugin(text: string): string {
  place.write({ 'mine/package.json': JSON.stringify({ name: 'agent-plugin-mine', version: '1.0.0', type: 'module', agent: { id: 'mine' } }), 'mine/index.ts': text });
  return join(place.workspace, 'mine');
}

const once = (...more: string[]) => place.agent(['plugin', 'dev', 'mine', '--once', ...more]);

test('a plugin that is well: what it contributes, and nothing for a terminal', async () => {
  plugin(code(greet));
  expect(await once()).toMatchObject({ code: 0, stdout: '\n✓ mine 1.0.0 activated\n  tools/greet\n', stderr: '' });
  expect((await once('--chaos')).stdout).toContain('mine: holds in chaos');
});

test('JSON for programs', async () => {
  plugin(code('(() => { throw new Error("no"); })()'));
  const { code: exit, stdout } = await once('--json');
  expect(exit).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ id: 'mine', state: 'quarantined', contributes: [], faults: [{ where: 'setup', file: 'index.ts', line: 3 }] });
});

test('faults, with the line of code', async () => {
  plugin(code(greet, "setTimeout(() => { throw new Error('late'); }, 1);"));
  const { code: exit, stdout } = await once();
  expect(exit).toBe(1);
  expect(stdout).toContain("    > 2 | setTimeout(() => { throw new Error('late'); }, 1);\n");
  expect(stdout).toContain('^');
});

test('what chaos finds fails the look', async () => {
  plugin(code(greet.replace("() => 'hi'", '() => 42 as never')));
  expect(await once()).toMatchObject({ code: 0 });
  expect(await once('--chaos')).toMatchObject({ code: 1, stdout: expect.stringContaining('✗ tools/greet.run: answered with the wrong type') as string });
});

test('a syntax error, an endless loop, an exit, a crash, a broken manifest: each is told', async () => {
  const said = async (text: string): Promise<string> => {
    plugin(text);
    const { code: exit, stdout } = await once();
    expect(exit).toBe(1);
    return stdout;
  };
  expect(await said('export default {\n  id: = 3,\n};\n')).toContain('> 2 |   id: = 3,');
  expect(await said('for (;;);')).toContain('did not come back within 3 s');
  expect(await said('await 1; for (;;);')).toContain('it blocked its process, and the watchdog ended it');
  expect(await said('process.exit(0);')).toContain('called process.exit(0)');
  expect(await said("process.kill(process.pid, 'SIGKILL');")).toMatch(/its process ended with SIGKILL|called process\.kill/);
  expect(await said('(process as any).abort();')).toMatch(/process/);
  place.write({ 'mine/package.json': JSON.stringify({ agent: { id: 'mine', capabilites: [] } }) });
  expect((await once()).stdout).toContain('did you mean "capabilities"?');
  expect(readdirSync(tmpdir()).filter((name) => /^newt-(dev|examine)-/.test(name))).toEqual([]);
}, 180_000);

test('a program the plugin leaves running goes with the look', async () => {
  const beat = join(place.root, 'beat');
  plugin(code(greet, `import { spawn } from 'node:child_process';\nspawn(process.execPath, ['-e', ${JSON.stringify(`setInterval(() => require('fs').writeFileSync(${JSON.stringify(beat)}, String(Date.now())), 20)`)}], { stdio: 'inherit' });`));
  const { stdout } = await once();
  expect(stdout).toContain('tools/greet');
  // It writes every 20 ms while it lives; one that died before its first word is gone as well.
  await until(() => !existsSync(beat) || Date.now() - statSync(beat).mtimeMs > 500);
});

test('type errors of its own compiler are told', async () => {
  const folder = plugin(code(greet));
  mkdirSync(join(folder, 'node_modules/typescript/bin'), { recursive: true });
  writeFileSync(join(folder, 'tsconfig.json'), '{}');
  // Stands for a compiler: what it says and how it ends is what is looked at.
  writeFileSync(join(folder, 'node_modules/typescript/bin/tsc'), "console.log('index.ts(1,1): error TS2322: scripted'); process.exit(1);");
  expect(await once()).toMatchObject({ code: 1, stdout: expect.stringContaining('  index.ts(1,1): error TS2322: scripted\n') as string });
});

test('what is no plugin is a usage error', async () => {
  expect(await place.agent(['plugin', 'dev', 'nowhere', '--once'])).toMatchObject({ code: 2, stderr: expect.stringContaining('does not exist') as string });
  expect(await place.agent(['plugin', 'dev', '--once'])).toMatchObject({ code: 2, stderr: expect.stringContaining('agent plugin new') as string });
});

test('it looks again after every change, until Ctrl-C', async () => {
  const folder = plugin(code(greet));
  const temporary = join(place.root, 'tmp');
  mkdirSync(temporary);
  const child = spawn(process.execPath, [bin, 'plugin', 'dev', folder], { cwd: place.workspace, env: { PATH: process.env['PATH'], HOME: place.root, AGENT_HOME: place.home, TMPDIR: temporary }, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  try {
    await until(() => out.includes('tools/greet\n'), patience);
    expect(err).toContain('Nothing is reloaded in agents that run already');
    plugin(code(greet.replace('greet:', 'welcome:')));
    await until(() => out.includes('tools/welcome\n'), patience);
    plugin('export default 3;\n');
    await until(() => out.includes('no default export'), patience);
    plugin('for (;;);');
    await until(() => readdirSync(temporary).length > 0, patience);
    // A change ends the look that it makes stale.
    plugin(code(greet.replace('greet:', 'again:')));
    await until(() => out.includes('tools/again\n'), patience);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  } finally {
    child.kill('SIGKILL');
  }
}, 180_000);
