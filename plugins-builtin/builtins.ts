/** The built-in plugins: their facts are read at start, their code when it is needed. */
import type { z } from 'zod';
import { builtin } from '../kernel/discover.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { complete } from '../kernel/manifest.ts';
import type { PluginStatic } from '../kernel/plugin.ts';
import { manifest as registry } from '../registry/manifest.ts';
import { manifest as agent } from './agent/manifest.ts';
import { manifest as cli } from './cli/manifest.ts';
import { manifest as codeSearch } from './code-search/manifest.ts';
import { manifest as doctor } from './doctor/manifest.ts';
import { manifest as files } from './files/manifest.ts';
import { manifest as models } from './models/manifest.ts';
import { manifest as permissions } from './permissions/manifest.ts';
import { manifest as shell } from './shell/manifest.ts';
import { manifest as tour } from './tour/manifest.ts';

type Load = NonNullable<Candidate['load']>;

const builtins: readonly (readonly [PluginStatic, Load])[] = [
  [agent, () => import('./agent/index.ts')],
  [cli, () => import('./cli/index.ts')],
  [codeSearch, () => import('./code-search/index.ts')],
  [doctor, () => import('./doctor/index.ts')],
  [files, () => import('./files/index.ts')],
  [models, () => import('./models/index.ts')],
  [permissions, () => import('./permissions/index.ts')],
  [registry, () => import('../registry/index.ts')],
  [shell, () => import('./shell/index.ts')],
  [tour, () => import('./tour/index.ts')],
];

export function builtinCandidates(version: string): Candidate[] {
  return builtins.map(([facts, load]) => builtin({ ...complete(facts, facts.id ?? ''), version }, load, facts.defines));
}

/** The parts of the configuration that built-in plugins own, by top-level key. */
export const configParts = {
  ...agent.config.shape,
  ...models.config.shape,
  ...registry.config.shape,
  permissions: permissions.config.shape.permissions,
} satisfies z.ZodRawShape;
