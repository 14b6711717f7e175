/**
 * One broken plugin at a time between two good ones, through the built command: the run ends well, both
 * good plugins work, the person is told in one line, the model once, and the next start knows.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Finished, Place } from '../support/agent-process.ts';
import type { ChatRequest, ModelServer } from '../support/model-server.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { type BrokenPlugin, brokenPlugins } from './broken-plugins.ts';

// Each test waits for processes; two at a time keep two cores busy without making them late.
vi.setConfig({ maxConcurrency: 2 });

/** What a run (0.4 s on an idle machine) may take beside the waits the design allows, on one that is busy with other tests. */
const busyMs = 12_000;

/** A command to type, or what to change in the plugin where the kernel knows. */
const nextStep = /agent plugin (list|release m-broken)$|[;?] (contained|the run went on without it)\. [A-Z].+\.$/;

const good = (id: string): string => `import { definePlugin, tool, z } from 'newt-agent';
export default definePlugin({ id: '${id}', version: '1.0.0' }, () => {
  let seen = 0;
  return {
    tools: { ${id[0]}_tool: tool({ description: 'Works.', input: z.object({}), effect: 'read', run: () => \`${id} answers; its hook saw \${seen} calls\` }) },
    hooks: { 'tool.before': (use) => { seen += 1; return use; } },
  };
});
`;

/** Calls the good tool, the broken one where there is one, the other good tool, and answers. */
function script(tool: string | undefined) {
  const names = ['a_tool', ...(tool ? [tool] : []), 'z_tool'];
  return (request: ChatRequest) => {
    const name = names[request.messages.filter(({ role }) => role === 'tool').length];
    return name ? { toolCalls: [{ name: 'use_tool', arguments: { name, args: {} } }], delayMs: 30 } : { text: ['all ', 'done'] };
  };
}

async function stage({ code, tool }: Pick<BrokenPlugin, 'code' | 'tool'>): Promise<Stage> {
  const opened = await openStage(script(tool));
  opened.place.plugins({ 'a-good.ts': good('a-good'), 'm-broken.ts': code, 'z-good.ts': good('z-good') });
  return opened;
}

const linesWith = (done: Finished, text: string): string[] => done.stderr.split('\n').filter((line) => line.includes(text));
const count = (text: string, part: string): number => text.split(part).length - 1;

/** Everything the model was sent by the end of the run, as plain text. */
function conversation(server: ModelServer): string {
  const messages = server.requests.at(-1)?.body.messages ?? [];
  return messages.map(({ content }) => (typeof content === 'string' ? content : Array.isArray(content) ? content.map((part) => (part as { text?: string }).text ?? '').join('\n') : '')).join('\n');
}

function expectGoodRun(done: Finished, server: ModelServer, tool?: string): void {
  expect(done, done.stderr).toMatchObject({ code: 0, signal: null, stdout: 'all done\n' });
  const calls = tool ? 3 : 2;
  expect(conversation(server)).toContain('a-good answers; its hook saw 1 calls');
  expect(conversation(server)).toContain(`z-good answers; its hook saw ${calls} calls`);
}

describe.concurrent('one broken plugin between two good ones', () => {
  // Times are compared, and a machine that gets busy between the two runs compares wrongly.
  test.each(brokenPlugins)('$title', { retry: 2, timeout: 60_000 }, async (broken) => {
    await using on = await stage(broken);
    const { place, server } = on;
    const { cause, where, tool, waits = 0 } = broken;

    const first = await place.agent(['run', 'go']);
    expectGoodRun(first, server, tool);
    expect(first.ms).toBeLessThan(waits + busyMs);
    const told = linesWith(first, 'm-broken');
    expect(told, first.stderr).toHaveLength(1);
    expect(told[0]).toContain(`plugin m-broken${broken.then === 'quarantined' ? ' is off' : ''}: ${where === undefined ? '' : `${where}: `}`);
    expect(told[0]).toContain(cause);
    expect(told[0]).toMatch(nextStep);
    expect(first.stderr).not.toMatch(/^\s+at /m);
    expect(count(conversation(server), cause), conversation(server)).toBe(1);

    const listed = await place.agent(['plugin', 'list', '--json']);
    expect(listed.code).toBe(0);
    const plugins = JSON.parse(listed.stdout) as { id: string; state: string; reason: string | null }[];
    expect(plugins.find(({ id }) => id === 'm-broken')).toMatchObject({ state: broken.then, reason: expect.stringContaining(cause) as string });
    for (const id of ['a-good', 'z-good']) expect(plugins.find((plugin) => plugin.id === id)).toMatchObject({ state: 'resolved', reason: null });

    const second = await place.agent(['run', 'go again']);
    expectGoodRun(second, server, tool);
    expect(linesWith(second, 'm-broken').join('\n')).toContain(cause);
    // What was waited for once is known: the second start pays none of it again.
    if (waits) expect(second.ms).toBeLessThan(first.ms - waits / 2);
    expect(second.ms).toBeLessThan(busyMs);
  });
});

describe.concurrent('wrong shapes in the hooks of every round: told, told again when the hook is off, and the run ends well', () => {
  test.each([
    ['model.request', "(request) => ({ ...request, messages: 'all of them' })"],
    ['model.request', '(request) => ({ ...request, messages: [null] })'],
    ['model.request', '(request) => ({ ...request, tools: null })'],
    ['model.response', '(answer) => ({ ...answer, text: null })'],
    ['model.response', "(answer) => ({ ...answer, calls: 'none' })"],
    ['model.response', '(answer) => ({ ...answer, calls: [{ id: 1 }] })'],
    ['tool.before', '(use) => ({ ...use, name: 5 })'],
    ['agent.stop', '() => ({ continue: 5 })'],
  ])('%s %s', async (hook, tap) => {
    await using on = await stage({ code: `import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'm-broken' }, () => ({ hooks: { '${hook}': ${tap} } }));\n` });
    const done = await on.place.agent(['run', 'go']);
    expectGoodRun(done, on.server);
    const told = linesWith(done, 'm-broken');
    expect(told[0]).toContain(`plugin m-broken: hook ${hook}: answered with the wrong type`);
    expect(told.length).toBeLessThanOrEqual(2);
  });
});

test('what a plugin writes to standard output by itself goes to its log', async () => {
  await using on = await stage({ code: "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'm-broken' }, () => ({ hooks: { 'turn.start': () => { process.stdout.write('noise\\n'); console.log('more noise'); } } }));\n" });
  const done = await on.place.agent(['run', 'go']);
  expectGoodRun(done, on.server);
  expect(done.stderr).toBe('');
  const log = readFileSync(join(on.place.home, 'state', 'logs', 'm-broken.log'), 'utf8');
  expect(log).toMatch(/ info noise\n.* info more noise\n/);
});

describe.concurrent('what follows', () => {
  const stateOf = async (place: Place): Promise<unknown> => {
    const { stdout } = await place.agent(['plugin', 'list', '--json']);
    return (JSON.parse(stdout) as { id: string; state: string }[]).find(({ id }) => id === 'm-broken')?.state;
  };

  test('a hook that fails the same way three times is off, which is told once more', async () => {
    const code = "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'm-broken' }, () => ({ hooks: { 'turn.start': () => { throw new Error('always'); } } }));\n";
    await using on = await stage({ code });
    const first = await on.place.agent(['run', 'go']);
    expectGoodRun(first, on.server);
    const [told, off, ...more] = linesWith(first, 'm-broken');
    expect(told).toContain('the run went on without it');
    expect(off).toContain('this part is off, the rest of the plugin works');
    expect(more).toEqual([]);
    const second = await on.place.agent(['run', 'go']);
    expect(linesWith(second, 'm-broken')).toEqual([expect.stringMatching(/hook turn\.start is off since .*always.*agent plugin release m-broken/)]);
  });

  test('a mended plugin is tried again by itself', async () => {
    await using on = await stage({ code: "throw new Error('not yet');\n" });
    await on.place.agent(['run', 'go']);
    expect(await stateOf(on.place)).toBe('quarantined');
    on.place.plugins({ 'm-broken.ts': good('m-broken') });
    expect(await stateOf(on.place)).toBe('activated');
  });

  test('a plugin that failed for a reason outside of it comes back with a release', async () => {
    const code = "import { existsSync } from 'node:fs';\nimport { definePlugin } from 'newt-agent';\nif (!existsSync('ready')) throw new Error('not ready');\nexport default definePlugin({ id: 'm-broken' }, () => ({}));\n";
    await using on = await stage({ code });
    await on.place.agent(['run', 'go']);
    const tooEarly = await on.place.agent(['plugin', 'release', 'm-broken']);
    expect(tooEarly.code).toBe(1);
    expect(tooEarly.stderr).toContain('not ready');
    on.place.write({ ready: '' });
    expect(await stateOf(on.place)).toBe('quarantined');
    expect((await on.place.agent(['plugin', 'release', 'm-broken'])).code).toBe(0);
    expect(await stateOf(on.place)).toBe('activated');
  });
});
