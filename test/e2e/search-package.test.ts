/** The plugin search through the built command, a scripted model, and a service on loopback that stands for the real one. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { braveAnswer, duckPage } from '../../registry/packages/search/pages.testing.ts';
import { saying, startService } from '../../registry/packages/search/search.testing.ts';
import { call, openStage, rounds } from '../support/stage.ts';

const folder = fileURLToPath(new URL('../../registry/packages/search', import.meta.url));
const secret = 'brave-secret-0123456789';

function written(root: string): string {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)).filter((path) => statSync(path).isFile());
  return files.map((path) => readFileSync(path, 'utf8')).join('\n');
}

test('a search, a refused key and a block reach the model; the key is kept to itself', async () => {
  let turn = 0;
  await using brave = await startService((response) => [saying(braveAnswer), saying({ error: `bad key ${secret}` }, 401), saying({}, 429, { 'retry-after': '5' })][turn++]?.(response));
  await using stage = await openStage(rounds(call('tool_search', { query: 'search the web' }), call('use_tool', { name: 'web_search', args: { query: 'b' } }), call('web_search', { query: 'c' }), call('web_search', { query: 'd' })));
  const { place } = stage;
  expect(await place.agent(['plugin', 'add', '--yes', folder])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Added search /) as string });
  expect(await place.agent(['config', 'set', 'plugins.config.search.base_urls.brave', brave.base])).toMatchObject({ code: 0 });
  const done = await stage.run({ env: { BRAVE_API_KEY: secret } });
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  const [found, first, refused, blocked] = stage.answers();
  expect(found?.text).toContain('"web_search"');
  expect(first).toMatchObject({ name: 'web_search', isError: false, text: expect.stringContaining("1. B & C\n   https://example.org/b\n   2026-01-02 · About b 'c'") as string });
  expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/^Brave refuses the search \(401\)\. Check the key in BRAVE_API_KEY/) as string });
  expect(blocked?.text).toContain('It asks to wait 5 s.');
  expect(brave.asked[0]?.headers['x-subscription-token']).toBe(secret);
  expect(`${done.stdout}${done.stderr}${written(place.home)}${stage.server.requests.map(({ bytes }) => bytes.toString()).join('')}`).not.toContain(secret);
  expect((await place.agent(['plugin', 'faults', 'search'])).stdout).toContain('no fault');
});

test('without a key it is DuckDuckGo; where nobody can be asked the network is not used', async () => {
  await using duck = await startService(saying(duckPage));
  await using stage = await openStage((_, n) => rounds(call('web_search', { query: 'tea' }))[n % 2] ?? { text: 'done' });
  const { place } = stage;
  await place.agent(['plugin', 'add', '--yes', folder]);
  await place.agent(['config', 'set', 'plugins.config.search.base_urls.duckduckgo', duck.base]);
  await place.agent(['run', 'go']);
  expect(stage.answers()).toMatchObject([{ isError: true, text: expect.stringMatching(/^Not allowed: uses the network, and nobody can be asked/) as string }]);
  expect(duck.asked).toHaveLength(0);
  expect((await stage.run()).code).toBe(0);
  expect(stage.answers()).toMatchObject([{ isError: false, text: expect.stringMatching(/^3 results of DuckDuckGo/) as string }]);
});

test('a wrong setting refuses the plugin with the key that is wrong', async () => {
  await using stage = await openStage([{ text: 'done' }]);
  await stage.place.agent(['plugin', 'add', '--yes', folder]);
  await stage.place.agent(['config', 'set', 'plugins.config.search.provider', 'gogle']);
  const { code, stdout, stderr } = await stage.run();
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
  expect(stderr).toMatch(/search[\s\S]*provider/);
});
