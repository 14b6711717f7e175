import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryKey } from './command-groups.ts';
import { until, type Workspace, workspace } from './tool-call.testing.ts';

let place: Workspace;
beforeEach(() => {
  place = workspace();
});
afterEach(async () => {
  await place.remove();
  expect(place.processes()).toEqual([]);
});

const recorded = (): number[] => [...((place.session.memory.get(memoryKey) as Set<number> | undefined) ?? [])];

describe('a process left in the background', () => {
  it.each([
    ['holding both streams', 'sleep 25 & echo up', /a process of this command still runs/],
    ['in a session of its own', 'setsid sleep 25 & echo up', /a process outside the group of this command still runs/],
    // By its path: what PATH has may be a script whose helpers of a moment are listed with good reason.
    ['as a server', `nohup '${process.execPath}' -e 'require("http").createServer().listen(0, "127.0.0.1")' & echo up`, /a process of this command still runs/],
    ['holding standard error alone', 'sleep 25 </dev/null >/dev/null & echo up', /a process of this command still runs/],
    ['holding nothing', 'sleep 25 </dev/null >/dev/null 2>&1 & echo up', /a process of this command still runs/],
  ])('does not keep its command from ending: %s', async (_how, command, says) => {
    const { text, took, isError } = await place.run({ command });
    expect(text).toMatch(/^up\n/m);
    expect(text).toMatch(says);
    expect(isError).toBe(false);
    expect(took).toBeLessThan(1_500);

    const pids = /pid ([\d, ]+)/.exec(text)?.[1]?.split(', ').map(Number);
    expect(pids).toEqual(place.processes());
    expect(recorded()).not.toEqual([]);

    await place.groups.endSession(place.session.id);
    expect(place.processes()).toEqual([]);
    expect(recorded()).toEqual([]);
  });

  it('can be stopped by the command the result gives', async () => {
    const { text } = await place.run({ command: 'sleep 25 & echo up' });
    const stop = /stop it with: (kill -TERM [-\d ]+);/.exec(text)?.[1];
    await place.run({ command: stop });
    await until(() => place.processes().length === 0);
  });

  it('goes on writing, into a file the result names', async () => {
    const { text } = await place.run({ command: '(echo early; until [ -e go ]; do sleep 0.02; done; echo late; echo done >wrote) & echo up' });
    const file = /full output: (.+), \d+ bytes/.exec(text)?.[1] ?? '';
    expect(text).toContain('early');
    await place.run({ command: 'touch go; until [ -e wrote ]; do sleep 0.02; done' });
    await until(() => readFileSync(file, 'utf8').includes('late'));
  });

  it('has its output of the grace time kept', async () => {
    expect((await place.run({ command: '(sleep 0.05; echo soon; sleep 25) & echo up' })).text).toMatch(/up\nsoon\n/);
  });

  it('that writes without pause is not waited for longer than a second', async () => {
    const { took } = await place.run({ command: 'while :; do echo tick; sleep 0.02; done & echo up' });
    expect(took).toBeLessThan(2_000);
  });

  it('is forgotten once it ended', async () => {
    await place.run({ command: 'sleep 0.3 & echo up' });
    await until(() => place.processes().length === 0);
    await place.run({ command: 'true' });
    expect(recorded()).toEqual([]);
  });

  it('that let go of the group and the output stays: it is a daemon by intent', async () => {
    const { text } = await place.run({ command: 'setsid sleep 0.5 </dev/null >/dev/null 2>&1 & echo up' });
    expect(text).not.toContain('still runs');
    await until(() => place.processes().length === 0);
  });
});

describe('the time limit', () => {
  it('ends the command and keeps its output', async () => {
    const { text, isError, took } = await place.run({ command: 'echo before; sleep 25; echo after', timeout: 0.3 });
    expect(text).toMatch(/^before\n\[if it waited .+\]\n\(timed out after 0.3 s and was killed\)$/);
    expect(isError).toBe(true);
    expect(took).toBeLessThan(1_500);
    expect(place.processes()).toEqual([]);
  });

  it('kills what ignores SIGTERM', async () => {
    const { text, took } = await place.run({ command: 'trap "" TERM; echo stubborn; sleep 25; sleep 25', timeout: 0.2 });
    expect(text).toMatch(/^stubborn\n[^]*\(timed out/);
    expect(took).toBeGreaterThan(2_000);
    expect(took).toBeLessThan(4_000);
    expect(place.processes()).toEqual([]);
  });

  it('gives SIGTERM a chance to clean up', async () => {
    const { text } = await place.run({ command: 'trap "echo cleaned; exit" TERM; echo up; sleep 25 & wait', timeout: 0.3 });
    expect(text).toMatch(/up\ncleaned\n/);
  });

  it('reaches a process that left the group but holds the output', async () => {
    await place.run({ command: 'setsid --wait sleep 25', timeout: 0.3 });
    expect(place.processes()).toEqual([]);
  });

  it('comes from the configuration when the call does not say', async () => {
    expect((await place.run({ command: 'sleep 25' }, { timeout: 0.2 })).text).toContain('timed out after 0.2 s');
  });

  it('is at most an hour', async () => {
    await expect(place.run({ command: 'true', timeout: 120_000 })).rejects.toThrow(/3600/);
  });
});

describe('cancelling', () => {
  it('ends the command', async () => {
    const cancel = new AbortController();
    const running = place.run({ command: 'echo begun; sleep 25 | cat' }, { signal: cancel.signal });
    await until(() => place.shown.join('').includes('begun'));
    cancel.abort();
    const { text, isError, took } = await running;
    expect(text).toMatch(/^begun\n\(cancelled, /);
    expect(isError).toBe(true);
    expect(took).toBeLessThan(2_000);
    expect(place.processes()).toEqual([]);
  });

  it('beforehand starts nothing', async () => {
    const { text } = await place.run({ command: 'touch made' }, { signal: AbortSignal.abort() });
    expect(text).toContain('nothing ran');
    expect((await place.run({ command: 'ls' })).text).toContain('no output');
  });
});

describe('the end of the agent', () => {
  it('ends commands that run, and what others left behind', async () => {
    await place.run({ command: 'sleep 25 & echo up' });
    const running = place.run({ command: 'sleep 25' });
    await until(() => place.processes().length >= 2);
    await place.groups.endAll();
    expect(place.processes()).toEqual([]);
    expect((await running).text).toContain('killed by SIGTERM');
  });

  it('by kill -9 ends them too', async () => {
    const agent = spawn(process.execPath, [new URL('./killed-agent.testing.ts', import.meta.url).pathname, place.root], { stdio: ['ignore', 'ignore', 'inherit'] });
    const gone = new Promise((resolve) => agent.once('exit', resolve));
    await until(() => place.processes().length >= 2);
    agent.kill('SIGKILL');
    await gone;
    await until(() => place.processes().length === 0);
  });
});
