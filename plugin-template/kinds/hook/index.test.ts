import { bootAgent, chaos } from 'newt-agent/testing';
import { expect, test } from 'vitest';

// Loaded as the agent would, into an agent in memory: a scripted model, no network, temporary folders.
const plugins = [import.meta.dirname];
const key = `sk-${'0'.repeat(20)}`;

test('the model never sees a key', async () => {
  await using agent = await bootAgent({ plugins, files: { '.env': `KEY=${key}\n` } });
  const { text } = await agent.tool('read_file', { path: '.env' });
  expect(text).toContain('KEY=(a key)');
  expect(text).not.toContain(key);
  expect(agent.did('log')).toMatchObject([{ level: 'info', message: expect.stringContaining('looks after the keys') }]);
  expect(agent.faults).toEqual([]);
});

test('what holds no key stays as it is', async () => {
  await using agent = await bootAgent({ plugins });
  const result = { session: 's', call: 'c', name: 'read_file', input: {}, text: 'nothing to hide', isError: false };
  expect(await agent.hook('tool.after', result)).toEqual(result);
});

test('it holds in chaos', async () => {
  const report = await chaos(import.meta.dirname);
  expect(report.ok, report.toString()).toBe(true);
}, 30_000);
