/** `agent plugin add <folder>`: a plugin that is used where it lies. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CommandIO, configControl, type Invocation, type KernelControl, kernelControl, oneLine, type PluginContext, type PluginInfo, shortPath } from 'newt-agent';
import { discoverPlugin } from '../kernel/discover.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { realPath } from '../kernel/paths.ts';
import { engineProblem } from '../kernel/resolve.ts';
import { digestPlugin } from '../kernel/trust/digest.ts';
import { describeCapabilities } from './capabilities.ts';
import { placeOf, refuseBuiltin } from './install/install.ts';
import { factLines, textColumns } from './layout.ts';
import { beyondAgreement, entryOf, type LinkEntry, type LockEntries, lockFile, readLock, updateLock } from './lock.ts';
import { outlook } from './outlook.ts';
import { refused } from './report.ts';

interface Proposal {
  readonly id: string;
  readonly entry: LinkEntry;
}

/** Adds a plugin folder to the lock file, after the person has seen what it asks for. */
export async function addFolder(path: string, p: PluginContext, options: Invocation['options'], io: CommandIO, signal: AbortSignal): Promise<number> {
  const control = p.use(kernelControl);
  const file = lockFile(control.paths);
  const plugins = control.plugins();
  const { id, entry: found } = propose(pluginAt(path, control), new Date(p.now()).toISOString());
  const before = readLock(file);
  refuseTaken(id, found, plugins, before);
  const known = entryOf(before, id);
  const asked = known ? beyondAgreement(known.capabilities, found.capabilities) : found.capabilities;
  const isAgreed = known !== undefined && asked?.length === 0;
  if (options['dryRun']) {
    if (options['json']) io.json({ dryRun: true, id, ...found });
    else describe(id, found, known !== undefined, asked, io);
    return 0;
  }
  if (!isAgreed) {
    describe(id, found, known !== undefined, asked, io);
    const answer = options['yes'] ? true : await io.confirm(known ? `Agree to this for ${id}?` : `Add ${id}?`, signal);
    if (answer === undefined) throw refused(`nobody can be asked whether to add ${id}`, '--yes adds it without asking');
    if (!answer) {
      io.say('Nothing was changed.');
      return 1;
    }
  }
  const entry = isAgreed ? { ...found, addedAt: known.addedAt } : found;
  // Somebody may have added another plugin of this id while the question stood.
  await updateLock(file, (entries) => {
    refuseTaken(id, entry, plugins, entries);
    return { ...withoutPath(entries, entry.path), [id]: entry };
  });

  const verb = !known ? 'Added' : known.contentDigest === entry.contentDigest ? 'Unchanged:' : 'Updated';
  if (options['json']) io.json({ id, ...entry });
  else io.print(`${verb} ${io.style.cyan(id)} ${oneLine(entry.version, 40)} ${io.style.dim(`(${shortPath(entry.path)})`)}`);
  for (const line of outlook(id, plugins, p.use(configControl).config.get('plugins.disabled'))) io.say(line.replace('It is loaded at', 'It is loaded from that folder at'));
  return 0;
}

/** The plugin in a folder. @throws OperationalError when there is none that could run */
function pluginAt(given: string, { paths, version }: KernelControl): Candidate {
  const path = realPath(resolve(given));
  if (path === undefined) throw refused(`${given} does not exist`, 'give the path of a plugin folder');
  const shown = shortPath(path);
  if (!statSync(path).isDirectory()) {
    throw refused(`${shown} is a file, and only folders and .tgz files can be added`, `a plugin of one file runs as soon as it lies in ${shortPath(join(paths.config, 'plugins'))}`);
  }
  const candidate = discoverPlugin('npm', path);
  if (!candidate) throw refused(`${shown} holds no plugin: neither a package.json with an "agent" part nor an index.ts or index.js`, 'see plugin-template for one that works');
  if (candidate.problem) throw refused(candidate.problem.reason, candidate.problem.hint);
  const unfit = engineProblem(candidate.manifest, version);
  if (unfit !== undefined) throw refused(`${candidate.manifest.id} ${unfit}`);
  return candidate;
}

function propose({ path, entry, manifest, bare }: Candidate, addedAt: string): Proposal {
  const { id, version, capabilities } = manifest;
  const contentDigest = digestPlugin(entry, bare ? undefined : path);
  return { id, entry: { source: 'link', path, version, contentDigest, capabilities: bare ? null : capabilities, addedAt } };
}

function refuseTaken(id: string, { path }: LinkEntry, plugins: readonly PluginInfo[], entries: LockEntries): void {
  refuseBuiltin(id, plugins);
  const other = entryOf(entries, id);
  if (other && (other.source !== 'link' || other.path !== path)) throw refused(`"${id}" was already added from ${placeOf(other)}`, `agent plugin remove ${id}, then add this one`);
}

/** One folder is one plugin: under the id it had before, it is not there any more. */
function withoutPath(entries: LockEntries, path: string): LockEntries {
  return Object.fromEntries(Object.entries(entries).filter(([, entry]) => entry.source !== 'link' || entry.path !== path));
}

function describe(id: string, entry: LinkEntry, isKnown: boolean, asked: readonly string[] | null, io: CommandIO): void {
  io.say(isKnown ? `${id} now asks for more than you agreed to:` : `This links the plugin ${id} into your agent:`);
  const facts: [string, string][] = [
    ['version', oneLine(entry.version, 40)],
    ['folder', shortPath(entry.path)],
    [isKnown ? 'also asks for' : 'asks for', asked ? describeCapabilities(asked) : 'what its code says: no package.json states it'],
  ];
  for (const line of factLines(facts, { columns: textColumns(io) })) io.say(line);
  io.say('A plugin runs with your rights: what it asks for is a declaration, not a sandbox.');
}
