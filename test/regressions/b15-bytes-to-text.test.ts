/**
 * B15: one bad byte breaks the tool, characters cut by a chunk turn into U+FFFD, half a surrogate pair makes
 * the next request invalid. Chunks in detail: `plugins-builtin/shell/captured-output.test.ts`.
 */
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

test('exactly one replacement character for one bad byte, and whole characters across a pause', async () => {
  await using on = await openStage(rounds(call('run_command', { command: String.raw`printf 'A\xf0B\xe3\x81'; sleep 0.3; printf '\x82C\n'` })));
  await on.run();
  expect(on.answers()[0]?.text).toContain('A\uFFFDB\u3042C');
  expect(on.answers()[0]?.text.match(/\uFFFD/g)).toHaveLength(1);
});

test('what goes to the model is valid UTF-8 and JSON: NUL, colours, half a surrogate pair, a long run of wide characters', async () => {
  const files = { 'nul.txt': 'a\u0000b\u001b[31mred\u001b[0m\n', 'wide.txt': `${'あ'.repeat(70_000)}\n` };
  await using on = await openStage([
    { toolCalls: [call('run_command', { command: 'cat nul.txt wide.txt' }), { name: 'write_file', arguments: String.raw`{"path":"lone.txt","content":"x\ud83dy"}` }, call('use_tool', { name: 'half' })] },
    { text: 'done' },
  ]);
  on.place.write(files);
  on.place.plugins({ 'half.ts': "import { definePlugin, tool, z } from 'newt-agent';\nexport default definePlugin({ id: 'half' }, () => ({ tools: { half: tool({ description: 'Half a pair.', input: z.object({}), effect: 'read', run: () => 'x\\ud83dy' }) } }));\n" });
  expect(await on.run()).toMatchObject({ code: 0, stdout: 'done\n' });
  const body = on.server.requests[1]?.bytes ?? Buffer.alloc(0);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  // Half a pair written as an escape is valid JSON, and still refused by servers that decode it.
  const strings: string[] = [];
  JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? strings.push(value) : value));
  expect(strings.filter((one) => !one.isWellFormed())).toEqual([]);
});
