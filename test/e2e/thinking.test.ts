/** Thinking over the Anthropic wire, through the built command. The scripted server knows its own signatures again. */
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { type Block, type MessagesRequest, signatureOf, startAnthropicServer } from '../support/anthropic-server.ts';
import { createPlace, type Place } from '../support/agent-process.ts';
import type { ModelServer, Script } from '../support/model-server.ts';
import { anthropicConfig } from '../support/wires.ts';

let place: Place;
let server: ModelServer;

async function stage(script: Script, config = 'thinking: { budget_tokens: 2048 }\n'): Promise<void> {
  server = await startAnthropicServer(script);
  place = createPlace(undefined, `${anthropicConfig(server.url)}${config}`);
}

afterEach(async () => {
  await server.close();
  place.remove();
});

const sent = (n: number): MessagesRequest => server.requests[n]?.sent as MessagesRequest;
const read = { toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] };

test('is shown, logged, and goes back with the calls it led to', async () => {
  await stage([{ reasoning: ['look at ', 'a.txt'], redacted: 'c2VjcmV0', text: 'I look.', ...read }, { ...read }, { text: 'It says one.' }]);
  place.write({ 'a.txt': 'one\n' });
  const done = await place.agent(['run', 'what does a.txt say']);
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'It says one.\n' });
  expect(sent(0)).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2048 }, max_tokens: 8192 + 2048 });
  const [, answer] = sent(1).messages;
  expect((answer?.content as readonly Block[]).map(({ type }) => type)).toEqual(['thinking', 'redacted_thinking', 'text', 'tool_use']);
  expect(server.requests).toHaveLength(3);
  expect(sent(2).thinking).toEqual({ type: 'enabled', budget_tokens: 2048 });

  const events = place.events();
  expect(events.flatMap(({ type, data }) => (type === 'delta' && data.kind === 'reasoning' ? [data.text] : [])).join('')).toBe('look at a.txt');
  expect(events.flatMap(({ type, data }) => (type === 'reasoning' ? [data] : []))).toEqual([
    { text: 'look at a.txt', parts: [{ text: 'look at a.txt', provider: { anthropic: { signature: signatureOf('look at a.txt') } } }, { text: '', provider: { anthropic: { redactedData: 'c2VjcmV0' } } }] },
  ]);
  expect(events.flatMap(({ type, data }) => (type === 'usage' ? [data] : []))[0]).toEqual({ inputTokens: 10, outputTokens: 5 });
});

test('what a plugin makes of an answer leaves the thoughts in it; a wrong one is its fault', async () => {
  await stage([{ reasoning: 'hm', ...read }, { text: 'done' }]);
  place.write({ 'a.txt': 'one\n' });
  place.plugins({
    'loud.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'loud' }, () => ({ hooks: { 'model.response': (answer) => ({ ...answer, text: answer.text.toUpperCase() }) } }));\n",
    'wrong.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'wrong' }, () => ({ hooks: { 'model.response': (answer) => ({ ...answer, reasoningParts: [{ text: 7 }] }) } }));\n",
  });
  const done = await place.agent(['run', 'go']);
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'DONE\n' });
  expect(sent(1).messages[1]?.content).toMatchObject([{ type: 'thinking', thinking: 'hm' }, { type: 'tool_use' }]);
  expect(place.events().flatMap(({ type, data }) => (type === 'fault' ? [data.plugin] : []))).toContain('wrong');
});

test('is off by default, and asked for only where the setting says so', async () => {
  await stage([{ text: 'hi' }], '');
  expect((await place.agent(['run', 'go'])).code).toBe(0);
  expect(sent(0).thinking).toBeUndefined();
  expect(sent(0).temperature).toBe(0.2);
  const listed = await place.agent(['config', 'set', 'thinking.budget_tokens', '5']);
  expect(listed.code).toBe(2);
  expect(listed.stderr).toContain('1024');
  expect((await place.agent(['config', 'set', 'thinking.budget_tokens', '4096'])).code).toBe(0);
  expect(readFileSync(`${place.home}/config/config.yaml`, 'utf8')).toContain('budget_tokens: 4096');
});

test('what was read from the cache is in the usage', async () => {
  await stage([{ text: 'hi', usage: { inputTokens: 900, outputTokens: 5, cachedTokens: 800 } }]);
  await place.agent(['run', 'go']);
  expect(place.events().find(({ type }) => type === 'usage')?.data).toEqual({ inputTokens: 900, outputTokens: 5, cacheReadTokens: 800 });
});

test('a key of the environment makes the provider known; without one the fix is named', async () => {
  await stage([]);
  const done = await place.agent(['run', '--model', 'anthropic/claude-sonnet-5', 'go']);
  expect(done).toMatchObject({ code: 2, stdout: '' });
  expect(done.stderr).toContain('provider anthropic needs an API key; export ANTHROPIC_API_KEY=…');
  expect(server.requests).toHaveLength(0);
});

test('a key of the environment is not sent to an address that a configuration names', async () => {
  await stage([{ text: 'hi' }]);
  await place.agent(['run', 'go'], { env: { ANTHROPIC_API_KEY: 'sk-ant-of-the-environment', ANTHROPIC_AUTH_TOKEN: 'token-of-the-environment' } });
  expect(server.requests).toHaveLength(1);
  expect(JSON.stringify(server.requests[0]?.headers)).not.toMatch(/of-the-environment/);
});
