/** `agent plugin faults` through the built command: what went wrong, where, how often. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';

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
  expect(stdout).toMatch(/^late {2}timer: threw too late \(late\.ts:4\)\n {2}3 times, \d{4}-\d\d-\d\d \d\d:\d\d to .*\n/);
  expect(stdout).toContain("  > 4 |   setTimeout(() => { throw new Error('too late");
  expect(stdout).toMatch(/^ {6}\| +\^$/m);
  // eslint-disable-next-line no-control-regex -- what must not be there
  expect(stdout).not.toMatch(/\u001b/);
  expect((await faults('off')).stdout).toMatch(/^off {2}setup: never up \(off\.ts:3\)\n {2}once, .*; the plugin is off\n[\s\S]*> 3 \| {3}throw new Error[\s\S]*agent plugin release off\n$/);
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
