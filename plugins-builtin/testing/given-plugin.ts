/** The plugins a test gives: definitions, or folders and files that are loaded as the agent would. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { discoverPlugin } from '../../kernel/discover.ts';
import type { Candidate } from '../../kernel/lifecycle.ts';
import { createLoader } from '../../kernel/load.ts';
import { complete } from '../../kernel/manifest.ts';
import { definePlugin, KernelError, type PluginContext, type PluginDefinition } from '../public.ts';

/** A definition, or the path (also as a `file:` URL) of a plugin's folder or its one file. */
export type GivenPlugin = PluginDefinition | string | URL;

/** What stands between the kernel and a plugin: its context, and its definition as a whole. */
export type Wrap = (definition: PluginDefinition, capabilities: readonly string[]) => PluginDefinition;

/**
 * What the kernel starts in place of `given`.
 * @param root a temporary folder
 * @throws KernelError `ARGUMENT` for a path where no plugin lies
 */
export function candidateOf(given: GivenPlugin, root: string, wrap: Wrap): Candidate {
  if (typeof given === 'string' || given instanceof URL) return fromPath(given instanceof URL || given.startsWith('file:') ? fileURLToPath(given) : resolve(given), root, wrap);
  const id = given.static.id ?? 'unnamed';
  const path = join(root, 'plugins', id);
  mkdirSync(path, { recursive: true });
  const entry = join(path, 'index.js');
  writeFileSync(entry, '// defined in a test\n');
  const manifest = complete(given.static, id);
  return { tier: 'global', path, entry, manifest, bare: false, load: async () => ({ default: wrap(given, manifest.capabilities) }) };
}

function fromPath(path: string, root: string, wrap: Wrap): Candidate {
  const found = existsSync(path) ? discoverPlugin('global', path) : undefined;
  if (!found) throw new KernelError('ARGUMENT', { what: `there is no plugin at ${path}${existsSync(path) ? ': neither a package.json with an "agent" part nor an index.ts or index.js' : ''}`, hint: 'give a definition, or the folder of a plugin' });
  if (found.problem) return found;
  const load = createLoader({ cache: join(root, 'transpiled'), virtualModules: async () => ({ 'newt-agent': await import('../public.ts'), zod: await import('zod') }) });
  // The loader knows nothing of its plugin but where it lies.
  const record = { candidate: found } as Parameters<typeof load>[0];
  return {
    ...found,
    load: async () => {
      const definition = await load(record);
      return { default: wrap(definition, found.bare ? (definition.static.capabilities ?? []) : found.manifest.capabilities) };
    },
  };
}

/** The definition with another context for its setup. */
export function withContext(definition: PluginDefinition, change: (p: PluginContext) => PluginContext): PluginDefinition {
  return definePlugin(definition.static as never, (p) => definition.setup(change(p as unknown as PluginContext) as never)) as PluginDefinition;
}
