/** What the README promises is tried: its plugin loads, its commands exist, its length is kept. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPlace, type Place } from './support/agent-process.ts';
import { startModelServer } from './support/model-server.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';

let place: Place;
beforeEach(() => {
  place = createPlace();
});
afterEach(() => place.remove());

test('is at most 150 lines, with the two commands on top', () => {
  const lines = readme.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(150);
  const top = lines.slice(0, 20).join('\n');
  expect(top).toContain('npm ci && npx agent tour');
  expect(top).toContain('npm ci && npm test');
});

test('the plugin of the README loads, and its tool answers the model', async () => {
  await using server = await startModelServer([
    { toolCalls: [{ name: 'tool_search', arguments: { query: 'git' } }] },
    { toolCalls: [{ name: 'use_tool', arguments: { name: 'git_status', args: {} } }] },
    { text: 'one new file' },
  ]);
  execFileSync('git', ['init', '-q'], { cwd: place.workspace });
  place.write({ 'new.txt': '' });
  place.plugins({ 'git-state.ts': example });
  const env = { AGENT_BASE_URL: server.url, AGENT_MODEL: 'test' };
  const done = await place.agent(['run', 'what changed?'], { env });
  expect(done).toMatchObject({ code: 0, stdout: 'one new file\n', stderr: '' });
  expect(server.requests[1]?.body.messages.at(-1)?.content).toContain('git_status');
  expect(server.requests[2]?.body.messages.at(-1)?.content).toBe('?? new.txt\n');
  expect(String(server.requests[0]?.body.messages[0]?.content)).toContain('Look at git_status');
});

test('every command of the README is known', async () => {
  const named = [...readme.matchAll(/^(?:.*\| )?agent ((?:plugin|config|trust|run|tour)(?: (?:list|add|remove|why|release|grant|status|init))?)\b/gm)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(5);
  for (const words of new Set(named)) {
    const help = await place.agent([...words.split(' '), '--help']);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining(`agent ${words}`) as string });
    expect(help.stdout).toContain('Examples:');
  }
});
