/**
 * Plugins that moved the process to another folder moved the workspace; ways out of the process that nobody
 * had thought of ended a run silently, with exit code 0.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { startModelServer } from '../support/model-server.ts';

let place: Place;
afterEach(() => place.remove());

const plugin = (body: string) => `import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => { ${body}; return {}; });\n`;

test.each([
  ["process.chdir('/')", 'process.chdir'],
  ['process.reallyExit(0)', 'process.reallyExit'],
  ['process.setUncaughtExceptionCaptureCallback(() => {})', 'setUncaughtExceptionCaptureCallback'],
])('%s is refused, and the run goes on in its workspace', async (body, named) => {
  await using server = await startModelServer([{ toolCalls: [{ name: 'write_file', arguments: { path: 'here.txt', content: 'x' } }] }, { text: 'done' }]);
  place = createPlace(server.url);
  place.plugins({ 'mover.ts': plugin(body) });
  const done = await place.agent(['run', '--yes', 'go']);
  expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(existsSync(join(place.workspace, 'here.txt'))).toBe(true);
  expect(done.stderr.split('\n').filter((line) => line.includes('mover'))).toEqual([expect.stringContaining(named)]);
});

test.each(['process.stdout.end()', 'process.stdout.destroy()'])('%s does not keep the answer from the person', async (body) => {
  await using server = await startModelServer([{ text: 'done' }]);
  place = createPlace(server.url);
  place.plugins({ 'closer.ts': plugin(body) });
  expect(await place.agent(['run', 'go'])).toMatchObject({ code: 0, stdout: 'done\n' });
});

test('what cannot be contained is never told as success', async () => {
  await using server = await startModelServer([{ text: 'done' }]);
  place = createPlace(server.url);
  place.plugins({ 'freezer.ts': plugin('Object.freeze(process)') });
  const done = await place.agent(['run', 'go']);
  if (done.stdout !== 'done\n') expect(done.code).not.toBe(0);
});

test('a library that extends a prototype harms nobody, and is named', async () => {
  await using server = await startModelServer([{ text: 'done' }]);
  place = createPlace(server.url);
  place.plugins({ 'sloppy.ts': plugin('Object.prototype.each = function () {}; Array.prototype.last = function () {}') });
  const done = await place.agent(['run', 'go']);
  expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(done.stderr).toContain('Object.prototype.each');
});
