import type { ToolCall } from 'newt-agent';
import { expect, test } from 'vitest';
import plugin, { hello, mentionHello } from './index.ts';

// What the agent lends to a tool while it runs. This one does not use it.
const call = {} as ToolCall;

test('the tool greets by name', async () => {
  expect(await hello.run(hello.input.parse({ name: 'Ada' }), call)).toBe('Hello, Ada!');
});

test('the tool refuses a call without a name', () => {
  expect(hello.input.safeParse({}).success).toBe(false);
  expect(hello.input.safeParse({ name: '' }).success).toBe(false);
});

test('the prompt keeps what others wrote', () => {
  const others = [{ id: 'base', text: 'Be brief.' }];
  expect(mentionHello({ cwd: '/work', sections: others }).sections).toEqual([...others, { id: 'hello', text: expect.stringContaining('hello') }]);
});

test('the plugin has the id of its package.json', async () => {
  const { default: manifest } = await import('./package.json', { with: { type: 'json' } });
  expect(plugin.static.id).toBe(manifest.agent.id);
});
