/** `agent plugin outdated` */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, type CommandIO, command, oneLine, type PluginContext, table } from 'newt-agent';
import rcompare from 'semver/functions/rcompare.js';
import type { InstallRun } from './install/install.ts';
import { registryFolder } from './install/pack.ts';
import { pickVersion } from './install/resolve.ts';
import { installOptions, openRun } from './install-run.ts';
import { interruptible } from './interrupts.ts';
import { tableLayout } from './layout.ts';
import { type InstalledVersion, readLock } from './lock.ts';
import type { RegistryConfig } from './manifest.ts';
import { reporting } from './report.ts';

interface Row {
  readonly id: string;
  readonly installed: string;
  /** What `agent plugin update` would take. */
  readonly update: string;
  /** The newest there is, of any range and age. */
  readonly latest: string;
}

const names: readonly string[] = ['--offline', '--project', '--json'];

/** Compares what is installed with what there is. Changes nothing. */
export function outdatedCommand(p: PluginContext<RegistryConfig>): Command {
  return command({
    description: 'Show which of the plugins that were added have a newer version',
    options: installOptions.filter(({ flags }) => names.includes(flags)),
    examples: ['agent plugin outdated', 'agent plugin outdated --json'],
    run: interruptible(reporting(async ({ options }, { io, signal }) => {
      const run = await openRun(p, options, io, signal);
      const rows: Row[] = [];
      for (const [id, entry] of Object.entries(readLock(run.target.lock))) {
        if (entry.source === 'link' || entry.source === 'tarball') continue;
        rows.push({ id, installed: entry.version, ...(await newest(entry, run)) });
      }
      const old = rows.filter(({ installed, update, latest }) => update !== installed || latest !== installed);
      if (run.json) io.json(old);
      else print(old, rows.length, io);
      return 0;
    })),
  });
}

async function newest({ source, asked, name, version }: InstalledVersion, { session, catalog }: InstallRun): Promise<Omit<Row, 'id' | 'installed'>> {
  session.progress(`Looking for ${name}`);
  try {
    if (source === 'catalog') {
      const folder = Object.hasOwn(catalog, asked) ? catalog[asked]?.folder : undefined;
      const shipped = folder === undefined ? version : String((JSON.parse(readFileSync(join(registryFolder(), 'packages', folder, 'package.json'), 'utf8')) as { version?: unknown }).version);
      return { update: shipped, latest: shipped };
    }
    const { versions } = await session.packuments.facts(name);
    const [latest = version] = [...versions.keys()].filter((one) => !one.includes('-')).sort(rcompare);
    const picked = await pickVersion(name, asked.slice(name.length + 1) || '*', session.packuments);
    return { update: rcompare(picked, version) < 0 ? picked : version, latest };
  } finally {
    session.progress(undefined);
  }
}

function print(old: readonly Row[], all: number, io: CommandIO): void {
  if (old.length === 0) {
    io.print(all === 0 ? 'No plugin was added from a package.' : 'Every plugin is up to date.');
    return;
  }
  const rows = old.map(({ id, installed, update, latest }) => [id, oneLine(installed, 40), oneLine(update, 40), oneLine(latest, 40)]);
  io.print(table(rows, [{ title: 'PLUGIN', style: io.style.cyan }, { title: 'INSTALLED' }, { title: 'UPDATE' }, { title: 'LATEST' }], tableLayout(io)));
  if (old.some(({ update, installed }) => update !== installed)) io.say('To update: agent plugin update <id>');
  if (old.some(({ update, latest }) => update !== latest)) io.say('What is later than the update is too young, or out of the range that was asked for.');
}
