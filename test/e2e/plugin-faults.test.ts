/** `agent plugin faults` through the built command: what went wrong, where, how often. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { openStage } from '../support/stage.ts';

let place: Place;
beforeAll(() => {
  place = createPlace();
});
afterAll(() => place.remove());

const late = `import { definePlugin } from 'newt-agent';

export default definePlugin({ id: 'late' }, () => {
  setTimeout(() => { throw new Error('too late \\u001b[31m'); }, 5);
  return new Promise((resolve) => setTimeout(resolve, 40, {}));
});
`;
const off = "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'off' }, () => {\n  throw new Error('never up');\n});\n";

const faults = (...args: string[]) => place.agent(['plugin', 'faults', ...args]);

test('nothing on record is said so', async () => {
  expect(await faults()).toMatchObject({ code: 0, stdout: 'No plugin has a fault on record.\n', stderr: '' });
});

test('each failure once, with its place, its count over the runs and what was done', async () => {
  place.plugins({ 'late.ts': late, 'off.ts': off });
  for (let run = 0; run < 2; run += 1) await place.agent(['plugin', 'list']);
  const { code, stdout } = await faults('late');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^late {2}timer: threw too late \(late\.ts:4:\d+\)\n {2}3 times, \d{4}-\d\d-\d\d \d\d:\d\d.*\n/);
  expect(stdout).toContain("  > 4 |   setTimeout(() => { throw new Error('too late");
  expect(stdout).toMatch(/^ {6}\| +\^$/m);
  // eslint-disable-next-line no-control-regex -- what must not be there
  expect(stdout).not.toMatch(/\u001b/);
  expect((await faults('off')).stdout).toMatch(/^off {2}setup: never up \(off\.ts:3:9\)\n {2}once, .*; the plugin is off\n[\s\S]*> 3 \| {3}throw new Error[\s\S]*agent plugin release off\n$/);
});

test('for programs: JSON, newest first', async () => {
  const list = JSON.parse((await faults('--json')).stdout) as { plugin: string; last: number }[];
  expect(list.map(({ plugin }) => plugin).sort()).toEqual(['late', 'off']);
  expect(list.map(({ last }) => last)).toEqual(list.map(({ last }) => last).sort((a, b) => b - a));
  expect(list.find(({ plugin }) => plugin === 'off')).toMatchObject({ tier: 'global', where: 'setup', kind: 'setup', file: 'off.ts', line: 3, count: 1, source: "  throw new Error('never up');" });
});

test('a file that changed since shows the line as it was', async () => {
  place.plugins({ 'off.ts': `// mended\n${off.replace('throw', '// throw')}` });
  expect((await faults('off')).stdout).toMatch(/> 3 \| {3}throw new Error\('never up'\);\n[\s\S]*the file has changed since/);
});

test('an unknown plugin: 2, with the one that was meant', async () => {
  expect(await faults('lat')).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "late"?') as string });
});

test('a line that only grew has changed too', async () => {
  place.plugins({ 'off.ts': off.replace("up');", "up'); // mended?") });
  // The agent that shows it loads it as well, and notes the line as it is now: so the file changes in a plugin that is off.
  await place.agent(['config', 'set', 'plugins.disabled', '["off"]']);
  place.plugins({ 'off.ts': off.replace("up');", "up'); // mended? no, longer") });
  expect((await faults('off')).stdout).toContain('the file has changed since');
});

test('a plugin whose file is gone still has its record', async () => {
  rmSync(join(place.home, 'config/plugins/off.ts'));
  const { code, stdout } = await faults('off');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^off {2}setup: never up[\s\S]*the plugin is gone/);
});

const hooked = (more = ''): string => `import { definePlugin } from 'newt-agent';${more}

export default definePlugin({ id: 'hooked', version: '1.0.0' }, () => ({
  hooks: {
    'session.start': () => {
      throw new Error('no session for you');
    },
  },
}));
`;

test('a hook that throws in two runs: twice, since the first one, with the caret under what threw', async () => {
  await using stage = await openStage(() => ({ text: 'done' }));
  stage.place.plugins({ 'hooked.ts': hooked() });
  for (let run = 0; run < 2; run += 1) expect((await stage.run()).code).toBe(0);
  const [fault, ...more] = JSON.parse((await stage.place.agent(['plugin', 'faults', 'hooked', '--json'])).stdout) as { first: number; last: number }[];
  expect(more).toEqual([]);
  expect(fault).toMatchObject({ plugin: 'hooked', where: 'hook session.start', kind: 'threw', count: 2, file: 'hooked.ts', line: 6, column: 13 });
  expect(fault?.first).toBeLessThan(fault?.last ?? 0);
  const { stdout } = await stage.place.agent(['plugin', 'faults', 'hooked']);
  expect(stdout).toContain('hooked  hook session.start: threw no session for you (hooked.ts:6:13)\n  2 times, ');
  expect(stdout).toContain("  > 6 |       throw new Error('no session for you');\n      |             ^\n");
});

test('the doctor points to it where there is something to see', async () => {
  place.plugins({ 'off.ts': off });
  await place.agent(['config', 'set', 'plugins.disabled', '[]']);
  expect((await place.agent(['doctor'])).stdout).toContain('agent plugin faults off shows the code');
});
