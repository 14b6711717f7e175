/**
 * What `dist/examine.js` runs, for `agent plugin dev`: one plugin in a process of its own, which may end as it likes.
 * The order comes as JSON on standard input, the answer goes as JSON to standard output.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discoverPlugin } from '../kernel/discover.ts';
import { createKernel } from '../kernel/kernel.ts';
import { homePaths } from '../kernel/paths.ts';
import { builtinCandidates } from './builtins.ts';
import { chaos } from './testing.ts';
import { packageVersion as version } from './testing/package.ts';

interface Order {
  readonly path: string;
  readonly chaos: boolean;
  /** The plugin's part of the configuration. */
  readonly config: unknown;
}

/** What a plugin's own registrations need to be understood. */
const parts = ['agent', 'files', 'code-search', 'models', 'permissions', 'shell'];
/** For what a plugin throws a moment after it came up, in milliseconds. */
const afterwards = 150;

async function examine({ path, chaos: wantsChaos, config }: Order): Promise<object> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'newt-examine-')));
  const candidate = discoverPlugin('global', path);
  if (!candidate) return { problem: 'holds no plugin: neither a package.json with an "agent" part nor an index.ts or index.js' };
  const kernel = createKernel({
    version,
    paths: homePaths({ AGENT_HOME: home }),
    candidates: [...builtinCandidates(version).filter(({ manifest }) => parts.includes(manifest.id)), candidate],
    configOf: ({ tier }) => (tier === 'builtin' ? {} : config),
    virtualModules: async () => ({ 'newt-agent': await import('./public.ts'), zod: await import('zod') }),
    contain: true,
  });
  try {
    await kernel.start();
    for (const event of candidate.manifest.activateOn) await kernel.fire(event);
    await new Promise((resolve) => setTimeout(resolve, afterwards));
    const { id, version: own, state, reason, contributes } = kernel.plugins().find(({ tier }) => tier !== 'builtin') ?? { id: candidate.manifest.id, contributes: [] };
    const faults = kernel.faultHistory(id);
    const answer = { id, version: own, state, reason, contributes, faults };
    await kernel.dispose();
    if (!wantsChaos || (state !== 'activated' && state !== 'degraded')) return answer;
    const report = await chaos(path, { config: (config ?? undefined) as never });
    return { ...answer, chaos: { ...report, text: report.toString() } };
  } finally {
    await kernel.dispose();
    rmSync(home, { recursive: true, force: true });
  }
}

const { exit } = process;
const answer = await examine(JSON.parse(readFileSync(0, 'utf8')) as Order);
// After a mark of its own: what the plugin printed before is not the answer.
const text = Buffer.from(`\n${JSON.stringify(answer)}\n`);
for (let at = 0; at < text.length; ) at += writeSync(1, text, at);
exit(0);
