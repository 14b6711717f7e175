import { bootAgent, chaos } from 'newt-agent/testing';
import { expect, test } from 'vitest';

// Loaded as the agent would, into an agent in memory: a scripted model, no network, temporary folders.
const plugins = [import.meta.dirname];

test('the command greets by name', async () => {
  await using agent = await bootAgent({ plugins });
  expect(await agent.command('hello', ['Ada'])).toMatchObject({ code: 0, out: 'Hello, Ada!', err: '' });
  expect(agent.faults).toEqual([]);
});

test('it prints JSON for programs', async () => {
  await using agent = await bootAgent({ plugins });
  const { out } = await agent.command('hello', ['Ada', '--json']);
  expect(JSON.parse(out)).toEqual({ greeting: 'Hello, Ada!' });
});

test('without a name it says what is missing', async () => {
  await using agent = await bootAgent({ plugins });
  expect(await agent.command('hello')).toMatchObject({ code: 2, err: expect.stringContaining("missing required argument 'name'") });
});

test('it holds in chaos', async () => {
  const report = await chaos(import.meta.dirname);
  expect(report.ok, report.toString()).toBe(true);
}, 30_000);
