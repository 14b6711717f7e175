/**
 * `--yes` wrote what changes the agent itself without asking, where the folder was reached by another name
 * than `.agent`: a symlink, from inside of it, or the agent's own folders in a workspace that holds them.
 */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';

let place: Place;
let server: ModelServer;
afterEach(async () => {
  place.remove();
  await server.close();
});

async function write(path: string, cwd: (place: Place) => string, prepare: (place: Place) => void = () => undefined): Promise<void> {
  server = await startModelServer([{ toolCalls: [{ name: 'write_file', arguments: { path, content: 'x' } }] }, { text: 'done' }]);
  place = createPlace(server.url);
  prepare(place);
  const done = await place.agent(['run', '--yes', 'go'], { cwd: cwd(place) });
  expect(done.code).toBe(0);
  const result = place.events().find((event) => event.type === 'tool.result');
  expect(result?.data).toMatchObject({ isError: true, text: expect.stringContaining('can change what the agent itself does') as string });
  expect(existsSync(join(cwd(place), path))).toBe(false);
}

test('the folder behind a symlink', () =>
  write('agentdir/plugins/x.ts', ({ workspace }) => workspace, ({ workspace }) => {
    mkdirSync(join(workspace, 'agentdir/plugins'), { recursive: true });
    symlinkSync('agentdir', join(workspace, '.agent'));
  }));

test('from inside of the folder', () =>
  write('plugins/x.ts', ({ workspace }) => join(workspace, '.agent'), ({ workspace }) => mkdirSync(join(workspace, '.agent/plugins'), { recursive: true })));

test("the agent's own folders", () => write('home/config/plugins/evil.ts', ({ root }) => root));
