/** The plugin a newcomer starts from runs in each of the four tiers, from a folder of its own. */
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as face from 'newt-agent';
import type { Item, Tool } from 'newt-agent';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as zod from 'zod';
import { builtin, discoverFolder } from '../kernel/discover.ts';
import { createKernel, type Kernel } from '../kernel/kernel.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { complete } from '../kernel/manifest.ts';
import { homePaths } from '../kernel/paths.ts';
import type { Tier } from '../kernel/tier.ts';
import { openTrust } from '../kernel/trust/trust.ts';
import template from '../plugin-template/index.ts';
import { globalTarget } from '../registry/install/tree.ts';
import { installedCandidates } from '../registry/installed.ts';
import { lockFile, updateLock } from '../registry/lock.ts';

const source = new URL('../plugin-template', import.meta.url).pathname;
const project = (): string => join(root, 'project', '.agent');

let root: string;
let kernel: Kernel | undefined;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-template-')));
});
afterEach(async () => {
  await kernel?.dispose();
  kernel = undefined;
  rmSync(root, { recursive: true, force: true });
});

const paths = () => homePaths({ AGENT_HOME: join(root, 'home') });

function copyTo(folder: string): string {
  cpSync(source, folder, { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
  return folder;
}

/** Puts the template where a plugin of the tier lies, and finds it there as the agent does. */
const tiers: Readonly<Record<Tier, () => Candidate[] | Promise<Candidate[]>>> = {
  builtin: () => [builtin(complete(template.static, 'hello'), () => import('../plugin-template/index.ts'))],
  project: () => {
    copyTo(join(project(), 'plugins', 'hello'));
    return discoverFolder('project', join(project(), 'plugins'), project());
  },
  global: () => {
    copyTo(join(paths().config, 'plugins', 'hello'));
    return discoverFolder('global', join(paths().config, 'plugins'));
  },
  npm: async () => {
    const path = copyTo(join(root, 'hello'));
    const addedAt = new Date(0).toISOString();
    await updateLock(lockFile(paths()), () => ({ hello: { source: 'link', path, version: '0.1.0', contentDigest: '', capabilities: [], addedAt } }));
    return installedCandidates(globalTarget(paths()), paths().cache);
  },
};

async function start(candidates: readonly Candidate[], untrusted?: string): Promise<Kernel> {
  const words = face.definePlugin({ defines: { hooks: face.agentHooks, points: [face.toolsPoint] as never } }, () => ({}));
  kernel = createKernel({
    version: '0.1.0',
    paths: paths(),
    candidates: [builtin(complete({ id: 'words' }, 'words'), async () => ({ default: words })), ...candidates],
    virtualModules: async () => ({ 'newt-agent': face, zod }),
    ...(untrusted !== undefined && { untrusted }),
  });
  await kernel.start();
  return kernel;
}

/** Why the project tier would not run, by the trust store. */
function untrusted(): string | undefined {
  return openTrust(join(paths().config, 'trust.json')).status(project()).status === 'trusted' ? undefined : 'this project is not trusted';
}

test.each(Object.keys(tiers) as Tier[])('the template runs in the tier %s', async (tier) => {
  const candidates = await tiers[tier]();
  if (tier === 'project') openTrust(join(paths().config, 'trust.json')).grant(project());
  const agent = await start(candidates, tier === 'project' ? untrusted() : undefined);

  expect(agent.plugins().find(({ id }) => id === 'hello')).toMatchObject({ tier, state: 'activated', contributes: ['hook prompt.build', 'tools/hello_greet'], reason: undefined });
  const { item } = agent.items('tools').get('hello_greet') as Item<Tool>;
  expect(await item.run(item.input.parse({ name: 'Ada' }))).toBe('Hello, Ada!');
  expect(await agent.call('prompt.build', { cwd: '/', sections: [] })).toMatchObject({ sections: [{ id: 'hello' }] });
  expect(agent.faults()).toEqual([]);
});

test('in a project that is not trusted none of its code runs', async () => {
  const agent = await start(await tiers.project(), untrusted());
  expect(agent.plugins().find(({ id }) => id === 'hello')).toMatchObject({ state: 'refused', reason: 'this project is not trusted' });
  expect(agent.items('tools').size).toBe(0);
});

test('of the template in all four tiers the built-in one runs, and the others say why they do not', async () => {
  const found: Candidate[] = [];
  for (const tier of ['npm', 'global', 'project', 'builtin'] as const) found.push(...(await tiers[tier]()));
  const agent = await start(found);
  const states = agent.plugins().filter(({ id }) => id === 'hello').map(({ tier, state, reason }) => [tier, state, reason?.split(' at ')[0]]);
  expect(states).toEqual([
    ['npm', 'refused', 'shadowed by the built-in plugin hello'],
    ['global', 'refused', 'shadowed by the built-in plugin hello'],
    ['project', 'refused', 'shadowed by the built-in plugin hello'],
    ['builtin', 'activated', undefined],
  ]);
});
