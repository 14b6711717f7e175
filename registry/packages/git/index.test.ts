import { expect, test } from 'vitest';
import plugin from './index.ts';
import stated from './package.json' with { type: 'json' };

test('the plugin is what its package.json says', () => {
  expect(plugin.static).toMatchObject({ id: stated.agent.id, capabilities: stated.agent.capabilities });
});
