/** Resolution: which of the discovered plugins take part, and why the others do not. */
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { KernelError } from './errors.ts';
import { type Manifest, type PluginRecord, transition } from './lifecycle.ts';
import { precedence } from './tier.ts';

export interface ResolveOptions {
  readonly version: string;
  readonly disabled: readonly string[];
  /** Built-in id to the id of the plugin that takes its place. */
  readonly replaces: Readonly<Record<string, string>>;
  /** Why the project tier does not run; undefined when it is trusted. */
  readonly untrusted: string | undefined;
}

/** Refuses what cannot or must not run, and gives the rest their rank. Runs no plugin code. */
export function resolvePlugins(records: readonly PluginRecord[], options: ResolveOptions): void {
  const ordered = [...records].sort((a, b) => precedence.indexOf(a.tier) - precedence.indexOf(b.tier));
  const holders = new Map<string, PluginRecord>();
  const present = new Set(records.filter((record) => !record.candidate.problem && !options.disabled.includes(record.id) && !(record.tier === 'project' && options.untrusted !== undefined) && engineProblem(record.manifest, options.version) === undefined).map((record) => record.id));
  for (const record of ordered) {
    const reason = refusal(record, options, holders, present);
    if (reason !== undefined) {
      transition(record, 'refused', reason);
      continue;
    }
    holders.set(record.id, record);
    transition(record, 'resolved');
  }
  for (const [replaced, by] of Object.entries(options.replaces)) {
    const replacement = holders.get(by);
    if (replacement && !holders.has(replaced)) holders.set(replaced, replacement);
  }
  refuseUnmet(holders);
  for (const record of new Set(holders.values())) record.rank = depth(record, holders, []);
}

function refusal(record: PluginRecord, options: ResolveOptions, holders: ReadonlyMap<string, PluginRecord>, present: ReadonlySet<string>): string | undefined {
  const { candidate, id, tier } = record;
  const excuse = (reason: string, excused = true): string => {
    record.excused = excused;
    return reason;
  };
  if (tier === 'project' && options.untrusted !== undefined) return excuse(options.untrusted);
  if (options.disabled.includes(id)) return excuse('turned off by plugins.disabled in the configuration');
  if (candidate.problem) return excuse(withHint(candidate.problem.reason, candidate.problem.hint), candidate.problem.excused ?? false);
  const by = tier === 'builtin' && Object.hasOwn(options.replaces, id) ? options.replaces[id] : undefined;
  if (by !== undefined && present.has(by)) return excuse(`replaced by ${by} (plugins.replaces)`);
  const holder = holders.get(id);
  if (holder?.tier === tier) return excuse(withHint(`duplicate id: "${id}" is already taken by ${holder.candidate.path}`, 'give one of the two another id'));
  if (holder) return excuse(holder.tier === 'builtin' ? `shadowed by the built-in plugin ${holder.id}` : `shadowed by the ${holder.tier} plugin at ${holder.candidate.path}`);
  return engineProblem(record.manifest, options.version);
}

/** What is wrong with a plugin's `engine`, checked again once a bare file has told it. */
export function engineProblem(manifest: Manifest, version: string): string | undefined {
  if (manifest.engine === '*') return undefined;
  if (validRange(manifest.engine) === null) return `engine "${manifest.engine}" is not a version range`;
  if (satisfies(version, manifest.engine, { includePrerelease: true })) return undefined;
  const error = new KernelError('ENGINE', { range: manifest.engine, version });
  return withHint(error.message, error.hint);
}

/** Drops who needs what is not there, then who needs them, until nothing changes. */
function refuseUnmet(holders: Map<string, PluginRecord>): void {
  for (let changed = true; changed; ) {
    changed = false;
    for (const [key, record] of holders) {
      const unmet = unmetRequirement(record, holders);
      if (unmet === undefined) continue;
      if (record.state === 'resolved') transition(record, 'refused', unmet);
      holders.delete(key);
      changed = true;
    }
  }
}

function unmetRequirement(record: PluginRecord, holders: ReadonlyMap<string, PluginRecord>): string | undefined {
  if (depth(record, holders, []) < 0) return `its required plugins form a cycle`;
  for (const [id, range] of Object.entries(record.manifest.requires.plugins ?? {})) {
    const needed = holders.get(id);
    if (!needed) return withHint(`needs the plugin ${id}, which is not there or not usable`, `add it, or see why: agent plugin list`);
    if (!satisfies(needed.manifest.version, range, { includePrerelease: true })) return `needs ${id} ${range}, found ${needed.manifest.version}`;
  }
  return undefined;
}

/** Longest chain of requirements below a plugin; negative for a cycle. */
function depth(record: PluginRecord, holders: ReadonlyMap<string, PluginRecord>, above: readonly PluginRecord[]): number {
  if (above.includes(record)) return -1;
  let deepest = 0;
  for (const id of Object.keys(record.manifest.requires.plugins ?? {})) {
    const needed = holders.get(id);
    if (!needed) continue;
    const below = depth(needed, holders, [...above, record]);
    if (below < 0) return -1;
    deepest = Math.max(deepest, below + 1);
  }
  return deepest;
}

function withHint(reason: string, hint: string): string {
  return hint ? `${reason}. To fix it: ${hint}` : reason;
}
