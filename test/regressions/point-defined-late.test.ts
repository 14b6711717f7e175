/**
 * Plugins start side by side: one whose contribution point (or hook) is defined by a plugin that loads more
 * slowly was quarantined, and stayed off at the next start. Registrations wait for their definition now.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { builtin, discoverFolder } from '../../kernel/discover.ts';
import { definePoint, type PointSpec } from '../../kernel/index.ts';
import { createKernel } from '../../kernel/kernel.ts';
import { complete } from '../../kernel/manifest.ts';
import { homePaths } from '../../kernel/paths.ts';
import { definePlugin } from '../../kernel/plugin.ts';

test('a contribution waits for its point, and one that fits no point is told of', async () => {
  const root = mkdtempSync(join(tmpdir(), 'late-'));
  const plugins = join(root, 'plugins');
  mkdirSync(plugins);
  const point = definePoint('tools' as never, { members: {} }) as unknown as PointSpec<never>;
  writeFileSync(join(plugins, 'early.ts'), "import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => ({ tools: { hammer: {} } }));\n");
  writeFileSync(join(plugins, 'astray.ts'), "import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => ({ toools: { hammer: {} } }));\n");
  const kernel = createKernel({
    version: '1.0.0',
    paths: homePaths({ AGENT_HOME: join(root, 'home') }),
    candidates: [
      builtin(complete({ id: 'definer' }, 'definer'), async () => {
        await wait(700);
        return { default: definePlugin({ defines: { points: [point] } }, () => ({})) };
      }),
      ...discoverFolder('global', plugins),
    ],
    virtualModules: async () => ({ 'newt-agent': { definePlugin } }),
  });
  await kernel.start();
  expect(kernel.plugins().map(({ id, state }) => [id, state])).toEqual([['definer', 'activated'], ['astray', 'degraded'], ['early', 'activated']]);
  expect([...kernel.items('tools').keys()]).toEqual(['hammer']);
  expect(kernel.faults().map(({ plugin, message }) => [plugin, message])).toEqual([['astray', 'there is no contribution point "toools"; did you mean "tools"?']]);
  await kernel.dispose();
});
