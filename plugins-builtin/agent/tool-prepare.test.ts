/** What an earlier call of the same answer does, and the question about the next one. */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GatedUse, tool, z } from 'newt-agent';
import { expect, onTestFinished, test } from 'vitest';
import type { Inline } from '../../test/support/boot.ts';
import type { ScriptedToolCall } from '../../test/support/model-server.ts';
import { type Desk, type DeskOptions, guardOf, openDesk, toolsOf } from './session.testing.ts';

async function desk(toolCalls: readonly ScriptedToolCall[], plugins: readonly Inline[], options?: DeskOptions): Promise<Desk> {
  const at = await openDesk([{ toolCalls }, { text: 'done' }], plugins, options);
  onTestFinished(() => at[Symbol.asyncDispose]());
  return at;
}

const call = (name: string, input: object = {}, id = name): ScriptedToolCall => ({ id, name, arguments: input });
const edit = (from: string, to: string, id: string, path = 'f'): ScriptedToolCall => call('replace_in_file', { path, old_text: from, new_text: to }, id);

test('is there when the next one on the same file is asked about', async () => {
  const heard: string[] = [];
  const options: DeskOptions = {
    mode: 'normal',
    ask: async ({ call: id, preview }) => (heard.push(`ask ${id}`, preview ?? ''), true),
    onEvent: ({ type, data }) => void (type === 'tool.result' && heard.push(`result ${data.call}`)),
  };
  const at = await desk([call('read_file', { path: 'f' }), edit('one', 'two', 'a'), edit('two', 'three', 'b'), edit('x', 'y', 'c', 'g')], [], options);
  writeFileSync(join(at.cwd, 'f'), 'one\n');
  writeFileSync(join(at.cwd, 'g'), 'x\n');
  await at.run();
  expect(heard.filter((one) => /^(ask|result) /.test(one))).toEqual(['result read_file', 'ask a', 'result a', 'ask b', 'ask c', 'result b', 'result c']);
  expect(heard.join('\n')).not.toContain('will fail');
  expect(heard[heard.indexOf('ask b') + 1]).toContain('-two\n+three');
  expect([readFileSync(join(at.cwd, 'f'), 'utf8'), readFileSync(join(at.cwd, 'g'), 'utf8')]).toEqual(['three\n', 'y\n']);
});

test('to where a link leads is seen by the gate', async () => {
  const seen: boolean[] = [];
  const guard = guardOf('tool.gate', ({ paths }: GatedUse) => void seen.push(...paths.map(({ inWorkspace }) => inWorkspace)));
  const tools = toolsOf({ link: tool({ description: 'x', input: z.object({}), effect: 'exec', run: (_, { session }) => (symlinkSync('/etc', join(session.cwd, 'out')), 'linked') }) });
  const at = await desk([call('link'), call('list_directory', { path: 'out' })], [guard, tools]);
  await at.run();
  expect(seen).toEqual([false]);
});
