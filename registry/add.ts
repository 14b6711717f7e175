/** `agent plugin add` */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, type CommandIO, command, configControl, type KernelControl, kernelControl, oneLine, type PluginContext, type PluginInfo, shortPath } from 'newt-agent';
import { digestPlugin } from '../kernel/trust/digest.ts';
import { discoverPlugin } from '../kernel/discover.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { realPath } from '../kernel/paths.ts';
import { engineProblem } from '../kernel/resolve.ts';
import { describeCapabilities } from './capabilities.ts';
import { factLines, textColumns } from './layout.ts';
import { beyondAgreement, type LockEntries, type LockEntry, lockFile, readLock, updateLock } from './lock.ts';
import { refused, reporting } from './report.ts';

interface Proposal {
  readonly id: string;
  readonly entry: LockEntry;
}

/** Adds a plugin folder to the lock file, after the person has seen what it asks for. */
export function addCommand(p: PluginContext): Command {
  return command({
    description: 'Add a plugin from a folder, which is used where it lies',
    arguments: [{ name: 'folder', description: 'Folder of the plugin', required: true, values: 'folders' }],
    options: [
      { flags: '-y, --yes', description: 'Do not ask' },
      { flags: '--json', description: 'Print what was added as JSON' },
    ],
    examples: ['agent plugin add ./my-plugin', 'agent plugin add ~/src/my-plugin --yes'],
    run: reporting(async ({ arguments: { folder }, options }, { io, signal }) => {
      const control = p.use(kernelControl);
      const file = lockFile(control.paths);
      const plugins = control.plugins();
      const { id, entry: found } = propose(pluginAt(String(folder), control), new Date(p.now()).toISOString());
      const before = readLock(file);
      refuseTaken(id, found, plugins, before);
      const known = Object.hasOwn(before, id) ? before[id] : undefined;
      const asked = known ? beyondAgreement(known.capabilities, found.capabilities) : found.capabilities;
      const isAgreed = known !== undefined && asked?.length === 0;

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
      for (const line of outlook(id, plugins, p.use(configControl).config.get('plugins.disabled'))) io.say(line);
      return 0;
    }),
  });
}

/** The plugin in a folder. @throws OperationalError when there is none that could run */
function pluginAt(given: string, { paths, version }: KernelControl): Candidate {
  const path = realPath(resolve(given));
  if (given === '' || path === undefined) throw refused(`${given || "''"} does not exist`, 'give the path of a plugin folder');
  const shown = shortPath(path);
  if (!statSync(path).isDirectory()) {
    throw refused(`${shown} is a file, and only folders can be added`, `a plugin of one file runs as soon as it lies in ${shortPath(join(paths.config, 'plugins'))}`);
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

function refuseTaken(id: string, { path }: LockEntry, plugins: readonly PluginInfo[], entries: LockEntries): void {
  if (plugins.some((plugin) => plugin.id === id && plugin.tier === 'builtin')) {
    throw refused(`"${id}" is the id of a built-in plugin`, 'give yours another id; plugins.replaces in your configuration lets it take the place of a built-in');
  }
  const other = Object.hasOwn(entries, id) ? entries[id] : undefined;
  if (other && other.path !== path) throw refused(`"${id}" was already added from ${shortPath(other.path)}`, `agent plugin remove ${id}, then add this one`);
}

/** One folder is one plugin: under the id it had before, it is not there any more. */
function withoutPath(entries: LockEntries, path: string): LockEntries {
  return Object.fromEntries(Object.entries(entries).filter(([, entry]) => entry.path !== path));
}

function describe(id: string, entry: LockEntry, isKnown: boolean, asked: readonly string[] | null, io: CommandIO): void {
  io.say(isKnown ? `${id} now asks for more than you agreed to:` : `This links the plugin ${id} into your agent:`);
  const facts: [string, string][] = [
    ['version', oneLine(entry.version, 40)],
    ['folder', shortPath(entry.path)],
    [isKnown ? 'also asks for' : 'asks for', asked ? describeCapabilities(asked) : 'what its code says: no package.json states it'],
  ];
  for (const line of factLines(facts, { columns: textColumns(io) })) io.say(line);
  io.say('A plugin runs with your rights: what it asks for is a declaration, not a sandbox.');
}

/** What happens to it at the next start. */
function outlook(id: string, plugins: readonly PluginInfo[], disabled: unknown): string[] {
  if (Array.isArray(disabled) && disabled.includes(id)) return ['It stays off: plugins.disabled in your configuration names it.'];
  const stronger = plugins.find((plugin) => plugin.id === id && (plugin.tier === 'project' || plugin.tier === 'global'));
  if (stronger?.state === 'refused') return [`The ${stronger.tier} plugin at ${shortPath(stronger.path)} has the same id. It is not running now; when it does, it shadows this one.`];
  if (stronger) return [`The ${stronger.tier} plugin at ${shortPath(stronger.path)} has the same id and shadows it while it is there.`];
  return ['It is loaded from that folder at the next start. To see how it fares: agent plugin list'];
}
