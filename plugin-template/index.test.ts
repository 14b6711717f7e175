import { bootAgent, chaos } from 'newt-agent/testing';
import { expect, test } from 'vitest';

// Loaded as the agent would, into an agent in memory: a scripted model, no network, temporary folders.
const plugins = [import.meta.dirname];

test('the tool greets by name', async () => {
  await using agent = await bootAgent({ plugins });
  expect(await agent.tool('hello_greet', { name: 'Ada' })).toMatchObject({ text: 'Hello, Ada!', isError: false });
  expect(agent.faults).toEqual([]);
});

test('a call without a name is refused before it runs', async () => {
  await using agent = await bootAgent({ plugins });
  expect(await agent.tool('hello_greet', { name: '' })).toMatchObject({ text: expect.stringContaining('do not fit'), isError: true });
});

test('the model reads of it, and calls it', async () => {
  await using agent = await bootAgent({ plugins, model: [{ calls: [{ name: 'hello_greet', input: { name: 'Ada' } }] }, 'I greeted Ada.'] });
  const { text, tools, requests } = await agent.run('greet Ada');
  expect(requests[0]?.system).toContain('call the tool hello_greet');
  expect(tools).toMatchObject([{ name: 'hello_greet', text: 'Hello, Ada!' }]);
  expect(text).toBe('I greeted Ada.');
});

test('it holds in chaos', async () => {
  const report = await chaos(import.meta.dirname);
  expect(report.ok, report.toString()).toBe(true);
}, 30_000);
