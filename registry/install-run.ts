/** What the commands that install have in common: their options, and what they work with. */
import { type CommandIO, type KernelControl, kernelControl, type PluginContext, trustControl } from 'newt-agent';
import { type Catalog, readCatalog } from './catalog.ts';
import { readConsent } from './install/consent.ts';
import type { InstallRun } from './install/install.ts';
import { openInstall } from './install/session.ts';
import { globalTarget, type InstallTarget, projectTarget } from './install/tree.ts';
import type { RegistryConfig } from './manifest.ts';
import { refused } from './report.ts';

/** The options every command that installs has. */
export const installOptions = [
  { flags: '-y, --yes', description: 'Do not ask; accepts no concern' },
  { flags: '--accept <concerns>', description: 'Concerns to accept, by name: scripts, young, size, count, name, native, provenance, capabilities' },
  { flags: '--dry-run', description: 'Show what would be done, and do nothing' },
  { flags: '--offline', description: 'Use only what was downloaded before' },
  { flags: '--project', description: 'For everybody who works on this project, not for you alone' },
  { flags: '--json', description: 'Print JSON' },
] as const;

/** What the commands that install work with, by their options. */
export async function openRun(p: PluginContext<RegistryConfig>, options: Readonly<Record<string, string | boolean | undefined>>, io: CommandIO, signal: AbortSignal, catalog: Catalog = readCatalog(), looksAtAge = true): Promise<InstallRun> {
  const control = p.use(kernelControl);
  const target = targetOf(p, options['project'] === true);
  const consent = readConsent(options);
  const progress = io.progress ? (text: string | undefined) => io.progress?.(text) : undefined;
  const session = await openInstall(p, control.paths, { offline: options['offline'] === true, signal, progress, looksAtAge });
  return { target, session, catalog, plugins: control.plugins(), io, consent, dryRun: options['dryRun'] === true, json: options['json'] === true, now: () => p.now() };
}

/** The person's own plugins, or those of the project at hand. @throws OperationalError outside of a project */
export function targetOf(p: Pick<PluginContext, 'use'>, isProject: boolean): InstallTarget {
  const { paths }: KernelControl = p.use(kernelControl);
  if (!isProject) return globalTarget(paths);
  const { folder } = p.use(trustControl);
  if (folder === undefined) throw refused('this folder belongs to no project with an .agent folder', 'make one: mkdir .agent');
  return projectTarget(paths, folder);
}
