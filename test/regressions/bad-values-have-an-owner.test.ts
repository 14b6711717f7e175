/** What plugins, repositories and environments hand over that nobody can use: it is told where it came from, and harms nothing else. */
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { startModelServer } from '../support/model-server.ts';

let place: Place;
afterEach(() => place.remove());

const tool = (body: string, more = '') => `import { definePlugin, tool, z } from 'newt-agent';\nexport default definePlugin({}, () => ({ tools: { draw: tool({ description: 'draws', input: z.object({}), effect: 'read', ${more} run: () => (${body}) }) } }));\n`;
const useDraw = [{ toolCalls: [{ name: 'draw', arguments: {} }] }, { text: 'done' }];
const results = () => place.events().flatMap((event) => (event.type === 'tool.result' ? [event.data.text] : []));

test.each([
  ["{ text: 'x', images: [{ mediaType: 'x/y', base64: 'AAAA' }] }", 'answered an image of the type x/y'],
  ["{ text: 'x', images: [{ mediaType: 'image/svg+xml', base64: 'AAAA' }] }", 'answered an image of the type image/svg+xml'],
  ["{ text: 'x', images: [{ mediaType: 'image/png', base64: 'no!' }] }", 'that is no base64'],
  ["{ text: 'x', images: [{ mediaType: 'image/png', base64: '' }] }", 'that is no base64'],
])('an image no model takes is a fault of its tool: %s', async (body, told) => {
  await using server = await startModelServer(useDraw);
  place = createPlace(server.url);
  place.plugins({ 'drawer.ts': tool(body) });
  const done = await place.agent(['run', '--yes', 'go']);
  expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(done.stderr).toContain('plugin drawer');
  expect(results().join()).toContain(told);
});

test('a request with such a part is a fault of the plugin that added it', async () => {
  await using server = await startModelServer([{ text: 'done' }]);
  place = createPlace(server.url);
  const part = "{ type: 'file', mediaType: 'x/y', data: { type: 'data', data: 'AAAA' } }";
  place.plugins({ 'adder.ts': `import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => ({ hooks: { 'model.request': (request) => ({ ...request, messages: [...request.messages, { role: 'user', content: [${part}] }] }) } }));\n` });
  const done = await place.agent(['run', 'go']);
  expect(done).toMatchObject({ code: 0, stdout: 'done\n', stderr: expect.stringContaining('plugin adder') });
});

test('files without end are not judged one by one', async () => {
  await using server = await startModelServer(useDraw);
  place = createPlace(server.url);
  place.plugins({ 'drawer.ts': tool("'drawn'", "touches: () => Array.from({ length: 200_000 }, (_, n) => ({ path: `f${n}`, access: 'read' })),") });
  expect(await place.agent(['run', '--yes', 'go'])).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(results()).toEqual([expect.stringContaining('draw would use 200000 files at once')]);
});

test.each(['openai-chat', 'anthropic'])('a key that cannot be sent is told, and not shown: %s', async (wire) => {
  for (const key of ['sk-se\ncret', 'sk-sécrèt-ключ']) {
    place = createPlace(undefined, `model: lab/x\nproviders:\n  lab: { base_url: http://127.0.0.1:9/v1, wire: ${wire}, api_key: ${JSON.stringify(key)} }\n`);
    const done = await place.agent(['run', 'go']);
    expect(done).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/the key of lab holds .*providers\.lab\.api_key/) });
    expect(done.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
    expect(done.stderr).not.toMatch(/sk-|cret/);
  }
});

test('a broken configuration of an untrusted repository does not keep a run from working', async () => {
  await using server = await startModelServer([{ text: 'done' }]);
  place = createPlace(server.url);
  place.write({ '.agent/config.yaml': 'react: [' });
  expect(await place.agent(['run', 'go'])).toMatchObject({ code: 0, stdout: 'done\n', stderr: expect.stringMatching(/config\.yaml.*the whole file is left out/) });
});

test.each(['constructor', 'valueof', 'tostring'])('a plugin may be called %s', async (id) => {
  place = createPlace();
  place.plugins({ [`${id}.ts`]: `import { definePlugin, z } from 'newt-agent';\nexport default definePlugin({ config: z.object({}) }, () => ({}));\n` });
  const list = await place.agent(['plugin', 'list', '--json']);
  expect(JSON.parse(list.stdout)).toContainEqual(expect.objectContaining({ id, state: 'activated' }));
  place.write({ 'linked/package.json': JSON.stringify({ agent: { id } }), 'linked/index.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => ({}));\n" });
  expect(await place.agent(['plugin', 'add', '--yes', 'linked'])).toMatchObject({ code: 0 });
});

test('records as JSON steer no terminal, and are the same values', async () => {
  const text = 'a\u009b2Jb\u202ec\u2028d\u{e0001}e';
  await using server = await startModelServer([{ text }]);
  place = createPlace(server.url);
  const { code, stdout } = await place.agent(['run', '--json', 'go']);
  expect(code).toBe(0);
  expect(stdout).not.toMatch(/[\u007f-\u009f\p{Cf}\u2028]/u);
  expect(stdout.trim().split('\n').map((line) => JSON.parse(line) as { type: string; data: { text?: string } }).find(({ type }) => type === 'assistant')?.data.text).toBe(text);
});
