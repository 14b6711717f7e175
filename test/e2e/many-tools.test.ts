/** However many plugins are installed, the first request stays small; and what it leaves out is found and used. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Place } from '../support/agent-process.ts';
import type { ModelServer } from '../support/model-server.ts';
import { wires } from '../support/wires.ts';

let place: Place;
let server: ModelServer;
afterEach(async () => {
  await server.close();
  place.remove();
});

const toolSource = (n: number): string => `tool_number_${n}: tool({ description: 'Answers with the number ${n}, and a text', input: z.object({ text: z.string() }), effect: 'read', run: ({ text }) => '${n} ' + text })`;
const bare = (id: string, tools: readonly string[]): string => `import { definePlugin, tool, z } from 'newt-agent';\nexport default definePlugin({ id: '${id}' }, () => ({\n  tools: { ${tools.join(',\n')} },\n  hooks: { 'prompt.build': (prompt) => ({ ...prompt, sections: [...prompt.sections, { id: '${id}', text: '${id} '.repeat(20) }] }) },\n}));\n`;
const numbers = Array.from({ length: 200 }, (_, n) => n);

const variants: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['200 plugins of one tool', Object.fromEntries(numbers.map((n) => [`p${n}.ts`, bare(`p${n}`, [toolSource(n)])]))],
  ['one plugin of 200 tools', { 'many.ts': bare('many', numbers.map(toolSource)) }],
];

describe.each(wires)('over the $name wire', (wire) => test.each(variants)('%s', async (_, files) => {
  server = await wire.start([
    { toolCalls: [{ name: 'tool_search', arguments: { query: 'number 137' } }] },
    { toolCalls: [{ name: 'use_tool', arguments: { name: 'tool_number_137', args: { text: 'a' } } }, { id: 'direct', name: 'tool_number_4', arguments: { text: 'b' } }] },
    { text: 'done' },
  ]);
  place = wire.place(server.url);
  place.plugins(files);
  const done = await place.agent(['run', 'go']);
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  const [first] = server.requests;
  const sent = first?.sent as { readonly messages: readonly { readonly role: string }[] };
  const withoutUser = { ...sent, messages: sent.messages.filter(({ role }) => role !== 'user') };
  expect(Buffer.byteLength(JSON.stringify(withoutUser))).toBeLessThanOrEqual(8 * 1_024);
  expect(first?.body.tools).toHaveLength(10);
  const results = place.events().flatMap((event) => (event.type === 'tool.result' ? [event.data] : []));
  const [schema] = (results[0]?.text ?? '').split('\n');
  expect(JSON.parse(schema ?? '')).toMatchObject({ name: 'tool_number_137', inputSchema: { required: ['text'] } });
  expect(results.slice(1)).toMatchObject([{ name: 'tool_number_137', text: '137 a' }, { call: 'direct', name: 'tool_number_4', text: '4 b' }]);
  const isMany = Object.keys(files).length > 1;
  const notices = place.events().flatMap((event) => (event.type === 'notice' ? [event.data.text] : []));
  expect(notices.filter((text) => text.includes('were dropped: plugins share 1 kB'))).toHaveLength(isMany ? 1 : 0);
}));
