/** Turning plugins off and on through the built command, and what is stronger than the person's file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';

let place: Place;
beforeEach(() => {
  place = createPlace(undefined, '# mine\nmodel: lab/x # the small one\n');
  place.plugins({ 'one.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => ({}));\n" });
});
afterEach(() => place.remove());

const stateOf = async (id: string, env = {}): Promise<string | undefined> => (JSON.parse((await place.agent(['plugin', 'list', '--json'], { env })).stdout) as { id: string; state: string }[]).find((one) => one.id === id)?.state;

test('off and on again, with the comments of the file kept', async () => {
  expect(await stateOf('one')).toBe('activated');
  expect(await place.agent(['plugin', 'disable', 'one'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Turned off one in ') as string });
  expect(await stateOf('one')).toBe('refused');
  expect(readFileSync(join(place.home, 'config/config.yaml'), 'utf8')).toMatch(/^# mine\nmodel: lab\/x # the small one\nplugins:/);
  expect(await place.agent(['plugin', 'enable', 'one'])).toMatchObject({ code: 0 });
  expect(await stateOf('one')).toBe('activated');
  expect(readFileSync(join(place.home, 'config/config.yaml'), 'utf8')).toBe('# mine\nmodel: lab/x # the small one\n');
});

test('the way in cannot be turned off', async () => {
  expect(await place.agent(['plugin', 'disable', 'cli'])).toMatchObject({ code: 2, stderr: expect.stringContaining('it is how you talk to the agent') as string });
});

test('the environment is stronger than every file, and is said to be', async () => {
  const env = { AGENT_PLUGINS__DISABLED: '["one"]' };
  place.write({ '.agent/config.yaml': 'plugins: { disabled: [] }\n' });
  await place.agent(['trust', 'grant']);
  expect(await stateOf('one')).toBe('activated');
  expect(await stateOf('one', env)).toBe('refused');
  expect(await place.agent(['plugin', 'enable', 'one'], { env })).toMatchObject({ code: 1, stderr: expect.stringContaining('one stays off in this folder: $AGENT_PLUGINS__DISABLED') as string });
});
