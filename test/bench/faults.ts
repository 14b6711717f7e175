/** What one contained fault costs its caller, with everything it leads to: counting, telling, remembering on disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtin } from '../../kernel/discover.ts';
import { defineHook } from '../../kernel/hook-spec.ts';
import { createKernel } from '../../kernel/kernel.ts';
import { complete } from '../../kernel/manifest.ts';
import { homePaths } from '../../kernel/paths.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import type { Row } from './report.ts';

const plugins = 100;

export async function faultRows(): Promise<Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'bench-'));
  const spec = defineHook('bench.fault' as never, 'series' as never);
  const broken = Array.from({ length: plugins }, (_, index) => {
    const id = `broken-${index}`;
    const definition = definePlugin({ id }, () => ({ hooks: { 'bench.fault': () => { throw new Error('broken'); } } }) as never);
    return builtin(complete({ id }, id), async () => ({ default: definition }));
  });
  const definer = definePlugin({ id: 'definer' }, () => ({}));
  const kernel = createKernel({
    version: '1.0.0',
    paths: homePaths({ AGENT_HOME: root }),
    candidates: [builtin(complete({ id: 'definer' }, 'definer'), async () => ({ default: definer }), { hooks: [spec] }), ...broken],
  });
  await kernel.start();
  const start = performance.now();
  await kernel.call('bench.fault', {});
  const each = (performance.now() - start) / plugins;
  await kernel.dispose();
  rmSync(root, { recursive: true, force: true });
  return [{ what: 'one contained fault, the first of its plugin, written to disk', value: each, unit: 'ms', budget: 1 }];
}
