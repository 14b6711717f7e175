/** Arguments nested thousands of levels deep ended the run, and the disk was blamed. */
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { startModelServer } from '../support/model-server.ts';

let place: Place;
afterEach(() => place.remove());

test.each([
  ['read_file', `{"path":"x","a":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`],
  ['use_tool', `{"name":"read_file","args":{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}}`],
])('%s: the model hears of it, and the run goes on', async (name, text) => {
  await using server = await startModelServer([{ toolCalls: [{ name, arguments: text }] }, { text: 'done' }]);
  place = createPlace(server.url);
  const done = await place.agent(['run', 'go']);
  expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(server.requests[1]?.body.messages.at(-1)?.content).toContain('nested deeper than 100 levels');
});

test('brackets in strings are no nesting', async () => {
  await using server = await startModelServer([{ toolCalls: [{ name: 'write_file', arguments: { path: 'x', content: '[{"'.repeat(500) } }] }, { text: 'done' }]);
  place = createPlace(server.url);
  await place.agent(['run', '--yes', 'go']);
  expect(place.events().find((event) => event.type === 'tool.result')?.data).toMatchObject({ isError: false });
});
