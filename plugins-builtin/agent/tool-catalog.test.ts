/** What a request carries of the tools, and how the rest is found and called. */
import { tool, type ToolSchema, z } from 'newt-agent';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Inline } from '../../test/support/boot.ts';
import type { Reply, ScriptedToolCall } from '../../test/support/model-server.ts';
import { type Desk, openDesk, toolsOf } from './session.testing.ts';

const core = ['glob', 'grep', 'list_directory', 'read_file', 'replace_in_file', 'run_command', 'task_done', 'tool_search', 'use_tool', 'write_file'];

async function desk(rounds: readonly ScriptedToolCall[][], plugins: readonly Inline[] = []): Promise<Desk> {
  const one = await openDesk([...rounds.map((toolCalls) => ({ toolCalls })), { text: 'done' }] satisfies Reply[], plugins);
  onTestFinished(() => one[Symbol.asyncDispose]());
  await one.run('go');
  return one;
}

const echo = (description: string): object => tool({ description, input: z.object({ text: z.string().describe('what to say'), times: z.int().positive().default(1) }), effect: 'read', run: ({ text, times }) => `${description}: ${text.repeat(times)}` });
/** `count` tools of one plugin each, or of one plugin. */
const apart = (count: number): Inline[] => Array.from({ length: count }, (_, n) => toolsOf({ [`plugin_tool_number_${n}`]: echo(`Tool ${n}`) }, `plugin-${n}`));
const together = (count: number): Inline[] => [toolsOf(Object.fromEntries(Array.from({ length: count }, (_, n) => [`plugin_tool_number_${n}`, echo(`Tool ${n}`)])), 'all-in-one')];
const call = (name: string, input: object, id = name): ScriptedToolCall => ({ id, name, arguments: input });

const schemas = (at: Desk, request = 0) => (at.server.requests[request]?.body.tools ?? []).map((one) => one.function);
const searching = (at: Desk): string => schemas(at).find(({ name }) => name === 'tool_search')?.description ?? '';
/** Bytes of the first request without what the person wrote. */
const overhead = (at: Desk): number => (at.server.requests[0]?.bytes.length ?? 0) - '{"role":"user","content":"go"},'.length;
const answers = (at: Desk): string[] => at.of('tool.result').map(({ text }) => text);

describe.each([
  ['nothing else', []],
  ['200 plugins of one tool', apart(200)],
  ['one plugin of 200 tools', together(200)],
] as const)('with %s installed', (title, plugins) => {
  test('the request carries the ten core tools, in 8 kB', async () => {
    const at = await desk([], plugins);
    expect(schemas(at).map(({ name }) => name).sort()).toEqual(core);
    expect(overhead(at)).toBeLessThanOrEqual(8 * 1_024);
    expect(Buffer.byteLength(searching(at))).toBeLessThanOrEqual(1_024 + 200);
    for (const { parameters } of schemas(at)) expect(parameters).toMatchObject({ type: 'object' });
    if (title === 'nothing else') expect(searching(at)).toContain('None are installed now');
    else expect(searching(at)).toMatch(/ 200 are installed, from the plugins: (plugin-0, plugin-1, .*…|all-in-one)$/);
  });
});

test('the names are listed while they fit', async () => {
  const few = await desk([], apart(20));
  for (let n = 0; n < 20; n += 1) expect(searching(few)).toContain(`plugin_tool_number_${n}`);
  // 1,024 bytes of names and separators are listed, one more are not.
  const names = (first: string): Inline[] => [toolsOf({ [first]: echo('x'), ...Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`${n}`.padEnd(62, 'n'), echo('x')])) })];
  expect(searching(await desk([], names('a'.repeat(64))))).toMatch(/ Installed: /);
  expect(searching(await desk([], [...names('a'.repeat(64)), toolsOf({ b: echo('x') }, 'other')]))).toMatch(/ 17 are installed, from the plugins: lab, other$/);
});

describe('tool_search', () => {
  const plugins = [
    toolsOf({ git_status: echo('Show the working tree'), git_log: echo('Show the history') }, 'git'),
    toolsOf({ weather: echo('Tell the weather of a city') }, 'sky'),
    toolsOf({ uebersetzen: echo('Übersetzt Text, 翻訳') }, 'worte'),
    ...apart(8),
  ];
  const found = async (query: string): Promise<{ names: string[]; rest: string; schemas: ToolSchema[] }> => {
    const at = await desk([[call('tool_search', { query })]], plugins);
    const lines = (answers(at)[0] ?? '').split('\n');
    const parsed = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as ToolSchema);
    return { names: parsed.map(({ name }) => name), schemas: parsed, rest: lines.filter((line) => !line.startsWith('{')).join('\n') };
  };

  test('finds by words of the name, the plugin and the description, the best first', async () => {
    expect((await found('git')).names).toEqual(['git_log', 'git_status']);
    expect((await found('working tree of git')).names[0]).toBe('git_status');
    expect((await found('WEATHER?')).names).toEqual(['weather']);
    expect((await found('sky')).names).toEqual(['weather']);
    expect((await found('git_status')).names[0]).toBe('git_status');
  });

  test('finds words in any script', async () => {
    expect((await found('übersetzt')).names).toEqual(['uebersetzen']);
    expect((await found('翻訳')).names).toEqual(['uebersetzen']);
  });

  test('shows five schemas, and names the rest', async () => {
    const { names, rest } = await found('number');
    expect(names).toHaveLength(5);
    expect(rest).toBe('Also matching: plugin_tool_number_5, plugin_tool_number_6, plugin_tool_number_7');
  });

  test('says when there is nothing, and does not offer what is there anyway', async () => {
    expect((await found('quux')).rest).toBe('No installed tool matches "quux".');
    expect((await found('read_file')).names).not.toContain('read_file');
  });

  test('gives schemas that say what to send', async () => {
    const [schema] = (await found('weather')).schemas;
    expect(schema).toEqual({
      name: 'weather',
      description: 'Tell the weather of a city',
      inputSchema: { type: 'object', properties: { text: { type: 'string', description: 'what to say' }, times: { default: 1, type: 'integer', exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER } }, required: ['text'] },
    });
  });
});

describe('a deferred tool', () => {
  test('is called through use_tool, or by its name, through the same gate', async () => {
    const at = await desk([[call('use_tool', { name: 'say', args: { text: 'a', times: 2 } }, 'one'), call('say', { text: 'b' }, 'two')]], [toolsOf({ say: echo('Say') })]);
    expect(at.of('tool.result')).toMatchObject([{ call: 'one', name: 'say', text: 'Say: aa', isError: false }, { call: 'two', name: 'say', text: 'Say: b', isError: false }]);
    // The prefix that servers keep in their cache is the same in each request.
    expect(at.server.requests[1]?.body.tools).toEqual(at.server.requests[0]?.body.tools);
  });

  test('gets its arguments checked', async () => {
    const at = await desk([[call('use_tool', { name: 'say', args: { text: 7 } })], [call('use_tool', { name: 'say' })]], [toolsOf({ say: echo('Say') })]);
    expect(answers(at)).toEqual([expect.stringMatching(/do not fit say: text/), expect.stringMatching(/do not fit say: text/)]);
  });

  test('with a schema nobody can show is found and called all the same', async () => {
    const odd = tool({ description: 'odd one', input: z.object({ at: z.string().transform((text) => new Date(text)), n: z.bigint().optional() }), effect: 'read', run: ({ at }) => String(at.getUTCFullYear()) });
    const at = await desk([[call('tool_search', { query: 'odd' }), call('odd', { at: '2020-02-02' })]], [toolsOf({ odd })]);
    expect(JSON.parse(answers(at)[0] ?? '')).toMatchObject({ name: 'odd', inputSchema: { type: 'object' } });
    expect(answers(at)[1]).toBe('2020');
  });

  test('of the name of a core tool does not take its place', async () => {
    const at = await desk([[call('list_directory', {}), call('lab__list_directory', { text: 'x' })]], [toolsOf({ list_directory: echo('Mine') })]);
    expect(answers(at)[0]).not.toContain('Mine');
    expect(answers(at)[1]).toBe('Mine: x');
    expect(schemas(at)).toHaveLength(core.length);
  });
});
