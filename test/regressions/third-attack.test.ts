/** What newcomers and attackers found in hangs, chat and restarts. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openStage } from '../support/stage.ts';

const bin = fileURLToPath(new URL('../../plugins-builtin/bin.cjs', import.meta.url));
const usePlugin = (name: string) => (_request: unknown, n: number) => (n === 0 ? { toolCalls: [{ name: 'use_tool', arguments: { name, args: {} } }] } : { text: 'done' });
const withTool = (id: string, tool: string, run: string): string => `import { definePlugin, tool, z } from 'newt-agent';
export default definePlugin({ id: '${id}' }, () => ({ tools: { ${tool}: tool({ description: 'x', input: z.object({}), effect: 'read', run: ${run} }) } }));
`;

test.concurrent('an interrupted loop is blamed by file and line, also at load', async () => {
  await using stage = await openStage(usePlugin('spin'));
  stage.place.plugins({ 'spin.ts': withTool('spin', 'spin', '() => {\n  let n = 0;\n  for (;;) n += 1;\n}'), 'load.ts': '\nlet n = 0;\nfor (;;) n += 1;\n' });
  const done = await stage.run();
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(done.stderr).toMatch(/plugin spin: tools\/spin: did not come back within 3 s, and was interrupted \(spin\.ts:4\)/);
  expect(done.stderr).toMatch(/plugin load is off: did not come back within 3 s, and was interrupted \(load\.ts:3\)/);
  expect((await stage.place.agent(['plugin', 'faults', 'spin'])).stdout).toMatch(/> 4 \| {3}for \(;;\) n \+= 1;\n +\| +\^/);
});

test.concurrent('a file whose plugin has another id is blamed under that one, once', async () => {
  await using stage = await openStage(usePlugin('later'));
  stage.place.plugins({ 'fname.ts': withTool('realid', 'later', 'async () => {\n  await null;\n  for (;;);\n}') });
  const first = await stage.run();
  expect(first, first.stderr).toMatchObject({ code: 70 });
  expect(first.stderr).toContain('plugin realid blocked the agent');
  expect((await stage.place.agent(['plugin', 'list'])).stdout).toMatch(/^realid .*quarantined/m);
  expect((await stage.place.agent(['plugin', 'release', 'realid'])).code).toBe(0);
  const next = await stage.place.agent(['run', '--yes', 'and now?']);
  expect(next.stderr).not.toContain('died while it ran');
});

test.concurrent('what stands behind /exit in a pipe is not said', async () => {
  await using stage = await openStage(() => ({ text: 'answered' }));
  for (let round = 0; round < 5; round += 1) {
    const before = stage.server.requests.length;
    const done = await stage.place.agent(['chat'], { input: 'one\n/help\ntwo\n/exit\nnever\nnever\n' });
    expect(done, done.stderr).toMatchObject({ code: 0 });
    expect(stage.server.requests.slice(before).map(({ body }) => JSON.stringify(body.messages.at(-1)))).toEqual([expect.stringContaining('one'), expect.stringContaining('two')]);
  }
});

test.concurrent('an agent whose starter is gone ends, however that went', async () => {
  await using stage = await openStage(() => ({ text: 'late', delayMs: 20_000 }));
  const env = { PATH: process.env['PATH'], HOME: stage.place.root, AGENT_HOME: stage.place.home, AGENT_BASE_URL: stage.server.url, AGENT_MODEL: 'test' };
  const starter = spawn(process.execPath, [bin, 'run', '--supervised', '--yes', 'go'], { env, cwd: stage.place.workspace, stdio: ['ignore', 'pipe', 'ignore'] });
  await expect.poll(() => stage.place.events().length, { timeout: 15_000 }).toBeGreaterThan(1);
  const isOver = new Promise((resolve) => starter.stdout.once('close', resolve));
  starter.stdout.resume();
  starter.kill('SIGKILL');
  // Its end of the pipe closes with the agent, not with the starter.
  await isOver;
  await expect.poll(() => stage.place.events().at(-1), { timeout: 10_000 }).toMatchObject({ type: 'stop', data: { reason: 'cancelled' } });
});

test.concurrent('a loop in the service of another plugin is that plugin’s', async () => {
  await using stage = await openStage(usePlugin('ask'));
  stage.place.plugins({
    'b-svc.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'b-svc' }, (p) => {\n  p.provide({ key: 'svc' } as never, { go() {\n    for (;;);\n  } } as never);\n});\n",
    'a-user.ts': "import { definePlugin, tool, z } from 'newt-agent';\nexport default definePlugin({ id: 'a-user' }, (p) => ({ tools: { ask: tool({ description: 'x', input: z.object({}), effect: 'read', run: () => (p.use({ key: 'svc' } as never) as { go(): string }).go() }) } }));\n",
  });
  const done = await stage.run();
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(done.stderr).toMatch(/plugin b-svc is off: service: did not come back within 3 s, and was interrupted \(b-svc\.ts:4\)/);
  expect((await stage.place.agent(['plugin', 'list'])).stdout).toMatch(/^a-user .*(on demand|activated)/m);
});

test.concurrent('a loop in a disposer does not change what the run came to', async () => {
  await using stage = await openStage(() => ({ text: 'all done' }));
  stage.place.plugins({ 'dis.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'dis' }, (p) => {\n  p.own({ dispose() { for (;;); } });\n});\n" });
  for (const args of [['run', '--yes', 'go'], ['run', '--supervised', '--yes', 'go']]) {
    const before = stage.server.requests.length;
    const done = await stage.place.agent(args);
    expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
    expect(stage.server.requests.length - before).toBe(1);
  }
});

test.concurrent('a loop without a line of a plugin on the stack is blamed on whose it is, in seconds', { timeout: 60_000 }, async () => {
  await using stage = await openStage(() => ({ text: 'late', delayMs: 40_000 }));
  stage.place.plugins({ 'native.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'native' }, () => {\n  setTimeout(RegExp.prototype.test.bind(/^(a+)+$/, 'a'.repeat(60) + 'b'), 200);\n});\n" });
  const done = await stage.run();
  expect(done, done.stderr).toMatchObject({ code: 70 });
  // A minute is what a hang takes that nobody can be blamed for.
  expect(done.ms).toBeLessThan(45_000);
  expect(done.stderr).toContain('plugin native blocked the agent');
  expect((await stage.place.agent(['plugin', 'list'])).stdout).toMatch(/^native .*quarantined/m);
});

test.concurrent('a redirect does not carry the key elsewhere', async () => {
  const { createServer } = await import('node:http');
  const stolen: string[] = [];
  const thief = createServer((request, response) => {
    stolen.push(JSON.stringify(request.headers));
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => thief.once('listening', resolve));
  const { port } = thief.address() as { port: number };
  const server = createServer((_, response) => void response.writeHead(307, { location: `http://127.0.0.1:${port}/steal` }).end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const own = server.address() as { port: number };
  await using stage = await openStage(() => ({ text: '' }));
  for (const wire of ['anthropic', 'openai-chat']) {
    stage.place.write({ '../home/config/config.yaml': `model: lab/m\nproviders: { lab: { base_url: "http://127.0.0.1:${own.port}/v1", api_key: sk-SECRET, wire: ${wire} } }\n` });
    const done = await stage.place.agent(['run', '--yes', 'go'], { env: { AGENT_BASE_URL: '', AGENT_MODEL: '' } });
    expect(done.code).not.toBe(0);
    expect(done.stderr).toMatch(/answered with a redirect to http:\/\/127\.0\.0\.1:\d+\/steal, which is not followed/);
  }
  expect(stolen).toEqual([]);
  server.close();
  thief.close();
});

test.concurrent('folders whose names differ in signs alone do not share their sessions', async () => {
  const { mkdirSync } = await import('node:fs');
  const { join } = await import('node:path');
  await using stage = await openStage(() => ({ text: 'done' }));
  const folders = ['a/b-c', 'a/b/c', 'проект', 'данные'].map((name) => join(stage.place.workspace, name));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  for (const [index, folder] of folders.entries()) {
    const done = await stage.place.agent(['run', '--yes', '--continue', 'go', '--cwd', folder]);
    expect([index, done.code, done.stderr]).toEqual([index, 2, expect.stringContaining('no session') as string]);
    expect((await stage.place.agent(['run', '--yes', 'go', '--cwd', folder])).code).toBe(0);
  }
});

test.concurrent('a lock that is no file is an error, not a loop', async () => {
  const { mkdtempSync, symlinkSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const { join } = await import('node:path');
  const { claimLock } = await import('../../kernel/lock-file.ts');
  const folder = mkdtempSync(join(tmpdir(), 'newt-lock-'));
  symlinkSync('/nonexistent', join(folder, 'lock'));
  expect(() => claimLock(join(folder, 'lock'))).toThrow(/is not a file/);
});

test.concurrent('settings that several agents write at once are all kept', async () => {
  await using stage = await openStage(() => ({ text: '' }));
  const values = { 'react.max_rounds': '11', 'tools.timeout': '22', temperature: '0.5', max_tokens: '99' };
  const done = await Promise.all(Object.entries(values).map(([key, value]) => stage.place.agent(['config', 'set', key, value])));
  expect(done.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  for (const [key, value] of Object.entries(values)) expect((await stage.place.agent(['config', 'get', key])).stdout.trim()).toBe(value);
});

test.concurrent('a model that refuses is not asked the same again', async () => {
  await using stage = await openStage(() => ({ text: '', finish: 'content_filter' }));
  const done = await stage.run();
  expect(done).toMatchObject({ code: 1, stderr: expect.stringContaining('the model refused to answer') as string });
  expect(stage.server.requests.length).toBe(1);
});
