/** `agent plugin bisect` through the built command: real plugins, real runs, real deaths. */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPlace, type Finished, type Place } from '../support/agent-process.ts';
import { until } from '../support/boot.ts';

let place: Place;
beforeEach(() => {
  place = createPlace();
});
afterEach(() => place.remove());

const id = (at: number): string => `p${String(at).padStart(2, '0')}`;
/** A plugin that notes in the file `$SEEN` that it is on. */
const plugin = (name: string, requires: readonly string[] = [], setup = ''): Record<string, string> => ({
  [`${name}/package.json`]: JSON.stringify({ name, version: '1.0.0', type: 'module', agent: { id: name, ...(requires.length > 0 && { requires: { plugins: Object.fromEntries(requires.map((one) => [one, '*'])) } }) } }),
  [`${name}/index.ts`]: `import { appendFileSync } from 'node:fs';\nimport { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => {\n  if (process.env.SEEN) appendFileSync(process.env.SEEN, '${name}\\n');\n  ${setup}\n  return {};\n});\n`,
});
const many = (amount: number, requires: (at: number) => readonly string[] = () => []): void => {
  for (let at = 0; at < amount; at += 1) place.plugins(plugin(id(at), requires(at)));
};
/** Starts the agent, and is bad when the plugins it is named are all on. Each run adds a line to `runs`. */
const oracle = (...bad: readonly string[]): string[] => {
  place.write({ 'oracle.sh': `set -e\nexport SEEN="$PWD/seen"\n: > seen\nagent plugin list > list\ntr '\\n' ' ' < seen >> runs\necho >> runs\nfor one in ${bad.join(' ')}; do grep -qx $one seen || exit 0; done\nexit 1\n` });
  return ['sh', 'oracle.sh'];
};
const bisect = (command: readonly string[], ...options: readonly string[]): Promise<Finished> => place.agent(['plugin', 'bisect', ...options, ...(command.length > 0 ? ['--', ...command] : [])], { env: { PATH: `${join(place.root, 'bin')}:${process.env['PATH'] ?? ''}` }, deadline: 300_000 });
const runs = (): string[][] => readFileSync(join(place.workspace, 'runs'), 'utf8').trimEnd().split('\n').map((line) => line.split(' ').filter(Boolean));

beforeEach(() => {
  const bin = join(place.root, 'bin');
  mkdirSync(bin);
  symlinkSync(join(import.meta.dirname, '../../plugins-builtin/bin.cjs'), join(bin, 'agent'));
  symlinkSync(process.execPath, join(bin, 'node'));
});

test('one bad of 64 is found in 8 runs at most, each with what its plugins require', { timeout: 300_000 }, async () => {
  many(64, (at) => (at % 8 === 5 ? [id(63 - at)] : at % 5 === 3 ? [id(at - 2)] : []));
  const { code, stdout, stderr } = await bisect(oracle(id(42)));
  expect(stderr.split('\n')[0]).toMatch(/^1 of at most 8: 64 of 64 plugins on … bad \(exit code 1, \d+\.\d s\)$/);
  expect(stderr.split('\n')[1]).toMatch(/^2 of at most 8: 0 of 64 plugins on … good \(exit code 0, \d+\.\d s\)$/);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(`Found: ${id(42)}\n`);
  expect(stdout).toMatch(new RegExp(`global, .*/config/plugins/${id(42)}\\n`));
  expect(stdout).toContain(`agent plugin faults ${id(42)}\n`);
  expect(stdout).toContain(`agent plugin disable ${id(42)}\n`);
  expect(runs().length).toBeLessThanOrEqual(8);
  for (const on of runs()) {
    for (let at = 0; at < 64; at += 1) {
      if (on.includes(id(at)) && at % 8 === 5) expect(on).toContain(id(63 - at));
      else if (on.includes(id(at)) && at % 5 === 3) expect(on).toContain(id(at - 2));
    }
  }
  expect(existsSync(join(place.home, 'state/bisect/home'))).toBe(false);
});

test('what was off stays off, an oracle that is no agent learns of it by the environment, and JSON tells all', async () => {
  many(6);
  expect(await place.agent(['plugin', 'disable', id(1)])).toMatchObject({ code: 0 });
  place.write({ 'look.sh': 'echo "$AGENT_PLUGINS__DISABLED" >> said\ncase "$AGENT_PLUGINS__DISABLED" in *p04*) exit 0;; esac\nexit 3\n' });
  const { code, stdout } = await bisect(['sh', 'look.sh'], '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'found', culprit: { id: id(4), tier: 'global', disable: `agent plugin disable ${id(4)}` }, plugins: 5, atMost: 5, runs: [{ on: 5, verdict: 'bad', how: 'exit code 3' }, { on: 0, verdict: 'good' }, ...Array.from({ length: (JSON.parse(stdout) as { runs: [] }).runs.length - 2 }, () => ({}))] });
  const said = readFileSync(join(place.workspace, 'said'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as string[]);
  for (const off of said) expect(off).toContain(id(1));
  expect(said[0]).toEqual([id(1)]);
  expect([...(said[1] ?? [])].sort()).toEqual([0, 1, 2, 3, 4, 5].map(id));
});

test('words behind -- reach the command as they are', async () => {
  many(1);
  place.write({ 'show.sh': 'printf "%s|" "$@" > words\nexit 0\n' });
  await bisect(['sh', 'show.sh', '--json', '--cwd', '/', '-h', '--', '--reset', 'a b']);
  expect(readFileSync(join(place.workspace, 'words'), 'utf8')).toBe('--json|--cwd|/|-h|--|--reset|a b|');
});

test('it says when it is not the plugins, or when the fault does not show', async () => {
  many(3);
  expect(await bisect(['sh', '-c', 'echo because >&2; exit 1'])).toMatchObject({ code: 1, stdout: expect.stringContaining('none of yours') as string, stderr: expect.stringContaining('because') as string });
  expect(await bisect(['true'])).toMatchObject({ code: 1, stdout: expect.stringContaining('nothing to search') as string });
  expect(await bisect(['sh', '-c', 'exit 125'])).toMatchObject({ code: 1, stdout: expect.stringContaining('cannot tell') as string });
  expect(await bisect(['no-such-command-anywhere'])).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be started') as string });
  expect(await bisect([])).toMatchObject({ code: 2 });
  expect(await bisect(['true'], '--timeout', 'soon')).toMatchObject({ code: 2, stderr: expect.stringContaining('--timeout') as string });
});

test('two that are bad together are found as two', async () => {
  many(8);
  const command = oracle(id(2), id(7));
  expect(JSON.parse((await bisect(command, '--json')).stdout)).toMatchObject({ outcome: 'found', culprit: { id: id(7) }, alone: null, runs: { length: 5 } });
  const found = await bisect([], '--pair', '--json');
  expect(found.stderr).toContain('Going on after 5 runs of sh oracle.sh\n');
  const { outcome, culprit, partner, enough } = JSON.parse(found.stdout) as { outcome: string; culprit: { id: string }; partner: { id: string }; enough: boolean };
  expect({ outcome, enough, ids: [culprit.id, partner.id].sort() }).toEqual({ outcome: 'pair', enough: true, ids: [id(2), id(7)] });
});

test('a plugin that kills the agent as it starts is found: the search does not run it, and each run forgets the last', { timeout: 120_000 }, async () => {
  many(4);
  // A plugin of one module tells its id, and what it requires, in its code alone.
  place.plugins({ 'zz-file.ts': "import { execSync } from 'node:child_process';\nimport { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'killer' }, () => { execSync(`kill -9 ${process.pid}`); return {}; });\n" });
  const { code, stdout, stderr } = await bisect(['agent', 'plugin', 'list', '--json']);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('Found: zz-file\n');
  expect(stderr).toContain('bad (SIGKILL');
  expect(stderr).not.toContain('safe mode');
});

test('killed in the middle, it goes on where it was; what it was running is ended', { timeout: 120_000 }, async () => {
  many(8);
  const command = oracle(id(5));
  // The third run stands still.
  place.write({ 'slow.sh': 'echo run >> count\nif [ "$(wc -l < count)" -eq 3 ]; then echo $$ > standing; sleep 300; fi\nsh oracle.sh\n' });
  let killed = false;
  const first = await place.agent(['plugin', 'bisect', '--', 'sh', 'slow.sh'], {
    env: { PATH: `${join(place.root, 'bin')}:${process.env['PATH'] ?? ''}` },
    onStart: (child) =>
      void until(() => existsSync(join(place.workspace, 'standing')) && readFileSync(join(place.workspace, 'standing'), 'utf8').endsWith('\n'), 60_000).then(() => {
        killed = child.kill('SIGKILL');
      }),
  });
  expect(killed).toBe(true);
  expect(first.signal).toBe('SIGKILL');
  const standing = Number(readFileSync(join(place.workspace, 'standing'), 'utf8'));
  await until(() => !isRunning(standing), 10_000);
  // Another command is not taken for this one.
  expect(await bisect(command)).toMatchObject({ code: 2, stderr: expect.stringContaining('--reset') as string });
  const { code, stdout, stderr } = await bisect(['sh', 'slow.sh']);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/^Going on after 2 runs of sh slow\.sh\n3 of at most 5: /);
  expect(stdout).toContain(`Found: ${id(5)}\n`);
  // Two before, the one that was killed, and the rest.
  expect(readFileSync(join(place.workspace, 'count'), 'utf8').trim().split('\n').length).toBeLessThanOrEqual(6);
});

test('Ctrl-C ends the run with all it started, and the search can be gone on with', { timeout: 60_000 }, async () => {
  many(2);
  place.write({ 'stand.sh': 'sleep 300 & echo $! > inner\necho $$ > standing\nwait\n' });
  let second: Finished | undefined;
  const stopped = await place.agent(['plugin', 'bisect', '--', 'sh', 'stand.sh'], {
    onStart: (child) =>
      void until(() => existsSync(join(place.workspace, 'standing')), 30_000).then(async () => {
        second = await bisect(['true']);
        child.kill('SIGINT');
      }),
  });
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('another search is under way') as string });
  expect(stopped).toMatchObject({ code: 130, stderr: expect.stringContaining('goes on where it was') as string });
  const inner = Number(readFileSync(join(place.workspace, 'inner'), 'utf8'));
  await until(() => !isRunning(inner));
  expect(await bisect([], '--reset')).toMatchObject({ code: 0, stdout: 'Forgot the last search.\n' });
});

test('a run that takes too long is bad, and is ended', { timeout: 60_000 }, async () => {
  many(2);
  place.write({ 'hang.sh': 'case "$AGENT_PLUGINS__DISABLED" in *p01*) exit 0;; esac\nsleep 300\n' });
  const { stdout, stderr } = await bisect(['sh', 'hang.sh'], '--timeout', '0.5');
  expect(stdout).toContain(`Found: ${id(1)}\n`);
  expect(stderr).toContain('bad (ended after 0.5 s');
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A dead process that nobody waits for is not running.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('a project turns nothing on again that a run has off', async () => {
  place.write({ '.agent/config.yaml': 'plugins: { disabled: [] }\n', '.agent/plugins/theirs.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => ({}));\n" });
  many(2);
  expect(await place.agent(['trust', 'grant'])).toMatchObject({ code: 0 });
  const { stdout, stderr } = await bisect(oracle(id(0)), '--json');
  expect(JSON.parse(stdout), stderr).toMatchObject({ outcome: 'found', culprit: { id: id(0) }, plugins: 3 });
});
