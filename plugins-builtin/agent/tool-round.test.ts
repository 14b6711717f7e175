/** The calls of one answer: order, parallelism, gates, deadlines, results. Everything but the model's words is real. */
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allow, ask, deny, type GatedUse, OperationalError, type Question, tool, type ToolOutcome, type ToolUse, type Touch, z } from 'newt-agent';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Inline, inTime, sleep } from '../../test/support/boot.ts';
import type { Reply, ScriptedToolCall } from '../../test/support/model-server.ts';
import { type Desk, type DeskOptions, guardOf, latch, openDesk, toolsOf } from './session.testing.ts';

/** One round of these calls, then an answer. */
async function desk(calls: readonly ScriptedToolCall[], plugins: readonly Inline[] = [], options?: DeskOptions): Promise<Desk> {
  const one = await openDesk([{ toolCalls: calls }, { text: 'done' }] satisfies Reply[], plugins, options);
  onTestFinished(() => one[Symbol.asyncDispose]());
  return one;
}

const call = (name: string, input: object | string = {}, id = name): ScriptedToolCall => ({ id, name, arguments: input });
const input = z.object({});
const reader = (run: () => unknown): object => tool({ description: 'x', input, effect: 'read', run: run as () => string });
const results = (one: Desk): (readonly [string, string, boolean])[] => one.of('tool.result').map(({ call: id, text, isError }) => [id, text, isError] as const);
const texts = (one: Desk): string[] => results(one).map(([, text]) => text);

describe('order', () => {
  test('independent calls run side by side, and are answered in call order', async () => {
    const [first, second] = [latch(), latch()];
    const tools = toolsOf({
      one: reader(async () => (first.open(), await second.opened, await sleep(60), 'one')),
      two: reader(async () => (second.open(), await first.opened, await sleep(30), 'two')),
    });
    const at = await desk([call('one'), call('two')], [tools]);
    expect(await inTime(() => at.run())).toMatchObject({ code: 0, text: 'done' });
    expect(results(at)).toEqual([['one', 'one', false], ['two', 'two', false]]);
    expect(at.observed(1)).toEqual([['one', 'one'], ['two', 'two']]);
    const [slow, quick] = at.of('tool.result');
    // Each is told by its own time, not by how long the ones before it were waited for.
    expect(slow?.ms).toBeGreaterThanOrEqual(59);
    expect(quick?.ms).toBeGreaterThanOrEqual(29);
  });

  /** Tools that note when they begin and end, on paths of the test's choosing. */
  function recorder(log: string[]): Inline {
    const use = (effect: 'read' | 'write' | 'exec', access: Touch['access']): object =>
      tool({
        description: 'x',
        input: z.object({ id: z.string(), path: z.string().optional() }),
        effect,
        touches: ({ path }) => (path === undefined ? [] : [{ path, access }]),
        run: async ({ id }) => {
          log.push(`+${id}`);
          await sleep(15);
          log.push(`-${id}`);
          return id;
        },
      });
    return toolsOf({ look: use('read', 'read'), change: use('write', 'write'), command: use('exec', 'read') });
  }

  const apart = ['+a', '-a', '+b', '-b'];
  const together = ['+a', '+b', '-a', '-b'];
  test.each([
    ['two writes of one file', ['change', 'f'], ['change', 'f'], apart],
    ['a write and a read of one file', ['change', 'f'], ['look', 'f'], apart],
    ['a read and a write of one file', ['look', 'f'], ['change', 'f'], apart],
    ['a write through a link', ['change', 'f'], ['change', 'link'], apart],
    ['a write and a look at the folder it is in', ['change', 'sub/f'], ['look', 'sub'], apart],
    ['a look at everything and a write', ['look', '.'], ['change', 'new/f'], apart],
    ['a command and a read', ['command'], ['look', 'f'], apart],
    ['a read and a command', ['look', 'f'], ['command'], apart],
    ['a write nobody knows the place of, and a read', ['change'], ['look', 'f'], apart],
    ['two reads of one file', ['look', 'f'], ['look', 'f'], together],
    ['two writes of two files', ['change', 'f'], ['change', 'f2'], together],
    ['a write beside the folder that is looked at', ['change', 'sub2/f'], ['look', 'sub'], together],
  ] as const)('%s', async (_, [a, pathA], [b, pathB], expected) => {
    const log: string[] = [];
    const at = await desk([call(a, { id: 'a', path: pathA }, 'a'), call(b, { id: 'b', path: pathB }, 'b')], [recorder(log)]);
    mkdirSync(join(at.cwd, 'sub'));
    writeFileSync(join(at.cwd, 'f'), '');
    symlinkSync('f', join(at.cwd, 'link'));
    await at.run();
    expect(log).toEqual(expected);
    expect(texts(at)).toEqual(['a', 'b']);
  });

  test('gates are asked in call order, one at a time, before anything runs', async () => {
    const log: string[] = [];
    const guard = guardOf('tool.gate', async ({ name }: GatedUse) => {
      log.push(`ask ${name}`);
      await sleep(10);
      log.push(`asked ${name}`);
      return allow();
    });
    const tools = toolsOf({ one: reader(() => (log.push('run one'), '1')), two: reader(() => (log.push('run two'), '2')) });
    const at = await desk([call('one'), call('two')], [guard, tools]);
    await at.run();
    expect(log).toEqual(['ask one', 'asked one', 'ask two', 'asked two', 'run one', 'run two']);
  });
});

describe('every announced call has one result', () => {
  const broken = toolsOf({
    throws: reader(() => {
      throw new Error('boom');
    }),
    rejects: reader(() => Promise.reject(null)),
    world: reader(() => {
      throw new OperationalError('the host is down');
    }),
    number: reader(() => 7),
    touchy: tool({ description: 'x', input, effect: 'read', touches: () => { throw new Error('touchy'); }, run: () => 'x' }),
    refine: tool({ description: 'x', input: z.object({ a: z.string().refine(() => { throw new Error('refined'); }) }), effect: 'read', run: () => 'x' }),
    fine: reader(() => 'fine'),
  });
  const failing: readonly (readonly [ScriptedToolCall, RegExp])[] = [
    [call('throws'), /lab failed: .*boom/],
    [call('rejects'), /lab failed/],
    [call('world'), /^the host is down$/],
    [call('number'), /lab failed: .*wrong type/],
    [call('touchy'), /lab failed: .*touchy/],
    [call('refine', { a: 'x' }), /lab failed: .*refined/],
    [call('nothing_like_it'), /no tool "nothing_like_it".*Nothing was run/],
    [call('fin'), /Did you mean refine or fine\?/],
    [call('fine', '{"a":'), /could not be read.*Nothing was run. Send valid JSON/s],
    [call('fine', '[]'), /not a JSON object/],
    [call('read_file', { path: 7 }), /do not fit read_file: path/],
    [call('read_file', { path: 'a\0b' }), /NUL/],
    [call('use_tool', { name: 'use_tool', args: {} }), /no tool "use_tool"/],
    [call('use_tool', { args: 1 }), /do not fit use_tool/],
    [call('fine', '{"__proto__":{"polluted":1},"constructor":1}'), /there is no argument __proto__, constructor/],
  ];
  test('whatever goes wrong', async () => {
    const at = await desk(failing.map(([one], index) => ({ ...one, id: `c${index}` })), [broken]);
    expect(await at.run()).toMatchObject({ code: 0 });
    expect(results(at).map(([id]) => id)).toEqual(failing.map((_, index) => `c${index}`));
    for (const [index, [, pattern]] of failing.entries()) expect(texts(at)[index]).toMatch(pattern);
    expect(at.observed(1).map(([id]) => id)).toEqual(failing.map((_, index) => `c${index}`));
  });

  test('a gate that throws denies, by name', async () => {
    const guard = guardOf('tool.gate', () => {
      throw new Error('no opinion');
    });
    const at = await desk([call('fine', {}, 'a'), call('list_directory', {}, 'b')], [guard, broken]);
    await at.run();
    expect(results(at)).toEqual(['a', 'b'].map((id) => [id, expect.stringMatching(/^Not allowed: .*guard/), true]));
  });

  test('ids that are missing, repeated in an answer or from one answer to the next', async () => {
    const at = await openDesk(
      [
        { toolCalls: [call('fine', {}, 'same'), call('fine', {}, 'same'), call('fine', {}, 'same')] },
        { toolCalls: [call('fine', {}, 'same'), call('fine', {}, 'other')] },
        { text: 'done' },
      ],
      [broken, { id: 'renamer', setup: () => ({ hooks: { 'model.response': (answer: { calls: { id: string }[] }) => ({ ...answer, calls: answer.calls.map((one) => (one.id === 'other' ? { ...one, id: 'same' } : one)) }) } }) }],
    );
    onTestFinished(() => at[Symbol.asyncDispose]());
    await at.run();
    const announced = at.of('assistant').flatMap(({ calls }) => calls.map(({ id }) => id));
    expect(announced).toHaveLength(5);
    expect(new Set(announced).size).toBe(5);
    expect(results(at).map(([id]) => id)).toEqual(announced);
    expect(at.of('tool.call').map(({ call: id }) => id)).toEqual(announced);
    const sent = at.server.requests[2]?.body.messages ?? [];
    expect(sent.flatMap((message) => (message.tool_calls ?? []).map(({ id }) => id))).toEqual(announced);
    expect(at.observed(2).map(([id]) => id)).toEqual(announced);
  });
});

describe('a person who cancels', () => {
  test('while a tool runs and others wait for it', async () => {
    const started = latch();
    const tools = toolsOf({
      polite: tool({ description: 'x', input, effect: 'read', run: (_, { signal }) => (started.open(), new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))) }),
      alone: tool({ description: 'x', input, effect: 'exec', run: () => 'ran' }),
      after: reader(() => 'ran'),
    });
    const at = await desk([call('polite'), call('alone'), call('after')], [tools]);
    const controller = new AbortController();
    const run = at.run('go', controller.signal);
    await started.opened;
    controller.abort();
    expect(await run).toEqual({ reason: 'cancelled', code: 130, text: 'cancelled' });
    expect(results(at)).toEqual([['polite', 'Cancelled; it may have run.', true], ['alone', 'Cancelled before it ran.', true], ['after', 'Cancelled before it ran.', true]]);
  });

  test('while a tool ignores it: the run ends soon all the same', async () => {
    const started = latch();
    const never = latch();
    const at = await desk([call('deaf')], [toolsOf({ deaf: reader(async () => (started.open(), await never.opened)) })]);
    const controller = new AbortController();
    const run = at.run('go', controller.signal);
    await started.opened;
    controller.abort();
    const begun = performance.now();
    expect((await run).code).toBe(130);
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(results(at)).toEqual([['deaf', 'Cancelled; it may have run.', true]]);
    never.open();
  });

  const cancelled = async (plugins: readonly Inline[], name: string, options: DeskOptions = {}, controller = new AbortController()): Promise<Desk> => {
    const at = await desk([call(name, {}, 'a'), call('other', {}, 'b')], [...plugins, toolsOf({ other: reader(() => 'ran') }, 'other')], options);
    expect((await at.run('go', controller.signal)).code).toBe(130);
    expect(results(at)).toEqual(['a', 'b'].map((id) => [id, 'Cancelled before it ran.', true]));
    return at;
  };

  test('while a gate thinks', async () => {
    const controller = new AbortController();
    await cancelled([guardOf('tool.gate', async () => (controller.abort(), await sleep(10), allow()))], 'other', {}, controller);
  });

  test('while a call is prepared', async () => {
    const controller = new AbortController();
    const touchy = tool({ description: 'x', input, effect: 'read', touches: () => { controller.abort(); throw new Error('aborted'); }, run: () => 'x' });
    await cancelled([toolsOf({ touchy })], 'touchy', {}, controller);
  });

  test.each([
    ['and the question is withdrawn', () => Promise.resolve(undefined)],
    ['and the question fails', () => Promise.reject(new Error('aborted'))],
  ])('while they are asked, %s', async (_, end) => {
    const controller = new AbortController();
    const at = await cancelled([guardOf('tool.gate', () => ask('sure?'))], 'other', { ask: () => (controller.abort(), end()) }, controller);
    expect(at.of('tool.answer')).toEqual([{ call: 'a', allowed: false, by: 'cancel' }]);
  });
});

describe('what a person is asked', () => {
  const shy = guardOf('tool.gate', ({ name }: GatedUse) => (name === 'fine' ? ask('it is new', 'the rule') : undefined));
  const fine = toolsOf({ fine: tool({ description: 'x', input: z.object({}), effect: 'read', deadline: 0.1, preview: () => 'what it does', run: () => 'ran' }) });

  test.each([
    [true, 'person', /^ran$/],
    [false, 'person', /The person said no\. Nothing was run/],
    [undefined, 'nobody', /it is new, and nobody can be asked\. Nothing was run\. The person can allow it with: the rule/],
  ] as const)('and answers %s', async (answer, by, text) => {
    const questions: Question[] = [];
    const at = await desk([call('fine')], [shy, fine], { ask: async (question) => (questions.push(question), answer) });
    await at.run();
    expect(questions).toEqual([{ call: 'fine', question: 'Allow fine?', reason: 'it is new', rule: 'the rule', preview: 'what it does' }]);
    expect(at.of('tool.ask')).toEqual(questions);
    expect(at.of('tool.answer')).toEqual([{ call: 'fine', allowed: answer === true, by }]);
    expect(texts(at)[0]).toMatch(text);
  });

  test('a question that fails is no yes', async () => {
    const at = await desk([call('fine')], [shy, fine], { ask: () => Promise.reject(new Error('the terminal is gone')) });
    expect(await at.run()).toMatchObject({ code: 0 });
    expect(results(at)).toEqual([['fine', expect.stringContaining('the terminal is gone'), true]]);
    expect(at.of('tool.answer')).toEqual([{ call: 'fine', allowed: false, by: 'nobody' }]);
  });

  test('takes as long as it takes: no deadline runs meanwhile', async () => {
    const at = await desk([call('fine')], [shy, fine], { ask: async () => (await sleep(300), true), config: { tools: { timeout: 0.1 } } });
    await at.run();
    expect(results(at)).toEqual([['fine', 'ran', false]]);
  });
});

describe('deadlines', () => {
  test('tools.timeout holds for tools that set none, and is told', async () => {
    const tools = toolsOf({
      slow: reader(() => new Promise(() => undefined)),
      own: tool({ description: 'x', input, effect: 'read', deadline: 5, run: async () => (await sleep(300), 'took its time') }),
    });
    const at = await desk([call('slow'), call('own')], [tools], { config: { tools: { timeout: 0.1 } } });
    await inTime(() => at.run());
    expect(results(at)).toEqual([['slow', expect.stringMatching(/lab failed: .*did not settle within 100 ms/), true], ['own', 'took its time', false]]);
  });
});

describe('results', () => {
  test('too large to show are whole in a file, and no later one takes its place', async () => {
    const long = (mark: string): string => Array.from({ length: 4_000 }, (_, n) => `${mark} line ${n} ${'.'.repeat(35)}`).join('\n');
    let n = 0;
    const at = await openDesk([{ toolCalls: [call('long', {}, 'c')] }, { toolCalls: [call('long', {}, 'c')] }, { text: 'done' }], [toolsOf({ long: reader(() => long(`${(n += 1)}`)) })]);
    onTestFinished(() => at[Symbol.asyncDispose]());
    await at.run();
    const [first, second] = at.of('tool.result');
    expect(first?.spilled).not.toBe(second?.spilled);
    for (const [index, one] of [first, second].entries()) {
      expect(readFileSync(one?.spilled ?? '', 'utf8')).toBe(long(`${index + 1}`));
      expect(statSync(one?.spilled ?? '').mode & 0o777).toBe(0o600);
      expect(one?.text).toMatch(new RegExp(`^${index + 1} line 0 .* line 3999 \\.+$`, 's'));
      expect(one?.text).toContain(one?.spilled);
      expect(one?.text.length).toBeLessThan(51_000);
      expect(at.observed(2)[index]?.[1]).toBe(one?.text);
    }
  });

  test('that were kept in a file can be read there unasked, and only read', async () => {
    let file = '';
    const at = await openDesk(
      (_, round) =>
        [
          { toolCalls: [call('long')] },
          { toolCalls: [call('read_file', { path: file, start_line: 2_000 }, 'part'), call('write_file', { path: file, content: '' }, 'overwrite'), call('read_file', { path: join(file, '..', '..', 'other.jsonl') }, 'beside')] },
          { text: 'done' },
        ][round] as Reply,
      [toolsOf({ long: reader(() => Array.from({ length: 4_000 }, (_, n) => `line ${n + 1} ${'.'.repeat(35)}`).join('\n')) })],
      { mode: 'normal', onEvent: (event) => void (event.type === 'tool.result' && (file ||= event.data.spilled ?? '')) },
    );
    onTestFinished(() => at[Symbol.asyncDispose]());
    await at.run();
    expect(results(at).slice(1)).toEqual([
      ['part', expect.stringContaining('line 2000 '), false],
      ['overwrite', expect.stringContaining('Not allowed'), true],
      ['beside', expect.stringContaining('Not allowed'), true],
    ]);
  });
});

describe('hooks of a call', () => {
  const hooking = (hooks: object): Inline => ({ id: 'hooker', setup: () => ({ hooks }) });
  const echo = tool({ description: 'x', input: z.object({ text: z.string() }), effect: 'read', run: ({ text }) => ({ text, data: { text } }) });
  const fails = tool({ description: 'x', input, effect: 'read', run: () => ({ text: 'went wrong', isError: true }) });
  const tools = toolsOf({ echo, fails });

  test('tool.before changes what is called and with what, never whose call it is', async () => {
    const gated: GatedUse[] = [];
    const before = hooking({ 'tool.before': (use: ToolUse) => ({ ...use, call: 'x', session: 'x', name: 'echo', input: { text: 'changed' } }) });
    const at = await desk([call('fails')], [before, tools, guardOf('tool.gate', (use: GatedUse) => void gated.push(use))]);
    await at.run();
    expect(gated).toMatchObject([{ call: 'fails', session: at.session.id, name: 'echo', input: { text: 'changed' } }]);
    expect(at.of('tool.call')).toMatchObject([{ call: 'fails', name: 'fails' }]);
    expect(at.of('tool.result')).toMatchObject([{ call: 'fails', name: 'echo', text: 'changed', isError: false }]);
  });

  test('and what it makes is checked and gated like what the model wrote', async () => {
    const before = hooking({ 'tool.before': (use: ToolUse) => ({ ...use, input: { text: 7 } }) });
    const at = await desk([call('echo', { text: 'a' })], [before, tools]);
    await at.run();
    expect(results(at)).toEqual([['echo', expect.stringContaining('do not fit echo'), true]]);
  });

  test('tool.after changes text, error and data, and nothing else', async () => {
    const after = hooking({ 'tool.after': (outcome: ToolOutcome) => ({ ...outcome, call: 'x', name: 'x', session: 'x', text: `${outcome.text}!`, isError: true, data: { seen: outcome.data as never } }) });
    const at = await desk([call('echo', { text: 'a' })], [after, tools]);
    await at.run();
    expect(at.of('tool.result')).toMatchObject([{ call: 'echo', name: 'echo', text: 'a!', isError: true, data: { seen: { text: 'a' } } }]);
    expect(at.observed(1)).toEqual([['echo', 'a!']]);
  });

  test('tool.error is heard for failures alone and changes the text alone', async () => {
    const heard: string[] = [];
    const error = hooking({ 'tool.error': ({ name, text }: ToolOutcome) => (heard.push(name), { text: `${text}: try echo`, isError: false }) });
    const at = await desk([call('echo', { text: 'a' }), call('fails')], [error, tools]);
    await at.run();
    expect(heard).toEqual(['fails']);
    expect(results(at)).toEqual([['echo', 'a', false], ['fails', 'went wrong: try echo', true]]);
  });

  test('taps that fail or answer nonsense leave the call as it was', async () => {
    const bad = hooking({ 'tool.before': () => ({ name: 7 }), 'tool.after': () => 'nonsense', 'tool.error': () => { throw new Error('bad tap'); } });
    const at = await desk([call('echo', { text: 'a' }), call('fails')], [bad, tools]);
    await at.run();
    expect(results(at)).toEqual([['echo', 'a', false], ['fails', 'went wrong', true]]);
    expect(new Set(at.of('fault').map(({ plugin, where }) => `${plugin} ${where}`))).toEqual(new Set(['hooker hook tool.before', 'hooker hook tool.after', 'hooker hook tool.error']));
  });

  test('no tap can change how a task that was reported ended', async () => {
    const after = hooking({ 'tool.after': (outcome: ToolOutcome) => ({ ...outcome, data: null }) });
    const at = await desk([call('task_done', { status: 'failed', summary: 'cannot be done' })], [after]);
    expect(await at.run()).toEqual({ reason: 'failed', code: 1, text: 'cannot be done' });
  });

  test('a denial comes with its reason, and nothing runs', async () => {
    let ran = false;
    const at = await desk([call('never')], [toolsOf({ never: reader(() => ((ran = true), 'x')) }), guardOf('tool.gate', () => deny('not today'))]);
    await at.run();
    expect([ran, texts(at)]).toEqual([false, ['Not allowed: not today. Nothing was run.']]);
  });
});
