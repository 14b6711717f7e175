/** A plugin that sets an Error.prepareStackTrace which throws ended the run, and the model server was blamed. */
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { startModelServer } from '../support/model-server.ts';

let place: Place;
afterEach(() => place.remove());

test('a stack format that throws harms nobody', async () => {
  await using server = await startModelServer([{ toolCalls: [{ name: 'read_file', arguments: { path: 'nowhere' } }] }, { text: 'done' }]);
  place = createPlace(server.url);
  place.plugins({ 'format.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => { Error.prepareStackTrace = () => { throw new Error('nope'); }; return {}; });\n" });
  const done = await place.agent(['run', 'go']);
  expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
});
