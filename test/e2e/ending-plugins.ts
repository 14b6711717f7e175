/** Plugins that nothing can interrupt: a loop after an await, exhausted memory. Their process ends. */
const head = "import { definePlugin, tool, z } from 'newt-agent';\n";
export const toolPlugin = (run: string): string => `${head}export default definePlugin({ id: 'm-bad', version: '1.0.0' }, () => ({ tools: { bad: tool({ description: 'Breaks.', input: z.object({}), effect: 'read', run: ${run} }) } }));\n`;
export const good = `${head}export default definePlugin({ id: 'a-good', version: '1.0.0' }, () => ({ tools: { fine: tool({ description: 'Works.', input: z.object({}), effect: 'read', run: () => 'fine' }) } }));\n`;
/** Title, module of the plugin `m-bad`, and the line of it where it stays. */
export const stalls: [title: string, code: string, line: number][] = [
  ['in a tool', toolPlugin('async () => {\n  await null;\n  for (;;);\n}'), 4],
  ['in a regular expression in a tool', toolPlugin("async () => {\n  await new Promise((resolve) => setTimeout(resolve, 10));\n  return String(/^(a+)+$/.test('a'.repeat(60) + 'b'));\n}"), 4],
  ['in a hook', `${head}export default definePlugin({ id: 'm-bad', version: '1.0.0' }, () => ({ hooks: { 'tool.before': async (use) => {\n  await null;\n  for (;;);\n} } }));\n`, 4],
  ['in a timer', `${head}export default definePlugin({ id: 'm-bad', version: '1.0.0' }, () => {\n  setTimeout(() => {\n    for (;;);\n  }, 300);\n  return { tools: { bad: tool({ description: 'Waits.', input: z.object({}), effect: 'read', run: () => new Promise((resolve) => setTimeout(resolve, 20_000)) }) } };\n});\n`, 4],
];

export const eatHeap = toolPlugin('() => {\n  const kept = [];\n  for (;;) kept.push(new Array(200_000).fill({}));\n}');
export const eatHeapLater = toolPlugin('async () => {\n  const kept = [];\n  for (;;) {\n    await null;\n    kept.push(new Array(200_000).fill({}));\n  }\n}');
