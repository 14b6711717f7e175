/**
 * Safe mode: after three starts in a row that died, only built-in plugins run, until something changed that could have
 * mended it or the person says so. Guards that are off meanwhile deny: a guard does not fail open.
 */
import { hash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../kernel/atomic-write.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { digestPlugin } from '../kernel/trust/digest.ts';
import { deadBoots, type Death, forgetDeadBoots } from './boots.ts';

/** What may be the reason that starts die; a change of it is worth another try. */
export interface Surroundings {
  readonly candidates: readonly Candidate[];
  /** Files whose content counts everywhere: the person's configuration, the lock file. */
  readonly files: readonly string[];
  /** `.agent` folder of the project; undefined outside of one. */
  readonly project: string | undefined;
  /** What is turned off, as all layers of the configuration together say. */
  readonly disabled: readonly string[];
}

export interface SafeMode {
  /** The starts that died, oldest first. */
  readonly deaths: readonly Death[];
  readonly since: number;
}

interface Stored extends SafeMode {
  readonly version: 1;
  /** Digest of what counts everywhere, and of what the project adds. */
  readonly everywhere: string;
  readonly project: { readonly folder: string; readonly digest: string };
}

const row = 3;

/** Why a plugin is off then. */
export const safeModeReason = 'safe mode: only built-in plugins run';

function fileOf(state: string): string {
  return join(state, 'safe-mode.json');
}

/**
 * Whether only built-in plugins may run. The third start that died begins it; `'over'` is answered once, by the
 * first start that finds something changed.
 */
export function safeMode(state: string, surroundings: Surroundings, now = Date.now()): SafeMode | 'over' | undefined {
  const stored = readStored(fileOf(state));
  if (stored) {
    if (isUnchanged(stored, surroundings)) return stored;
    endSafeMode(state);
    return 'over';
  }
  const deaths = deadBoots(state).map(({ command, at }): Death => ({ command, at }));
  if (deaths.length < row) return undefined;
  const begun: Stored = { version: 1, since: now, deaths: deaths.slice(-row), everywhere: digestEverywhere(surroundings), project: { folder: surroundings.project ?? '', digest: digestProject(surroundings) } };
  try {
    writeAtomic(fileOf(state), `${JSON.stringify(begun)}\n`);
    forgetDeadBoots(state);
  } catch {
    // The deaths stay on record, and begin it at the next start too.
  }
  return begun;
}

/** What is on record of it, whether it is still due or not. */
export function readSafeMode(state: string): SafeMode | undefined {
  return readStored(fileOf(state));
}

/** Ends it, and forgets the starts that died. @returns whether there was anything to forget */
export function endSafeMode(state: string): boolean {
  const had = readSafeMode(state) !== undefined || deadBoots(state).length > 0;
  rmSync(fileOf(state), { force: true });
  forgetDeadBoots(state);
  return had;
}

/** The same plugins, none of which runs but the built-in ones. One that guards is missed, and what it guards denied. */
export function builtinsOnly(candidates: readonly Candidate[]): Candidate[] {
  return candidates.map((candidate) => {
    if (candidate.tier === 'builtin' || candidate.problem) return candidate;
    return { ...candidate, problem: { reason: safeModeReason, hint: '', excused: !isGuard(candidate) } };
  });
}

/** What the person is told, on one line. @param candidates those that would run */
export function safeModeLine({ deaths }: SafeMode, candidates: readonly Candidate[]): string {
  const last = deaths.at(-1);
  const what = last?.command ? `agent ${last.command}, ${clock(last.at)}` : clock(last?.at ?? 0);
  const guards = candidates.filter(isGuard).map(({ manifest }) => manifest.id);
  const denied = guards.length === 0 ? '' : `; the guard${guards.length === 1 ? '' : 's'} ${guards.join(', ')} cannot be asked, so what ${guards.length === 1 ? 'it guards' : 'they guard'} is denied`;
  return `safe mode: ${deaths.length} starts in a row died within a minute (the last: ${what}), so only built-in plugins run${denied}. Find the plugin to blame: agent plugin bisect -- <command>; turn it off: agent plugin disable <id>; try again with everything: agent plugin release --all`;
}

function isGuard({ manifest }: Candidate): boolean {
  return manifest.capabilities.some((capability) => capability.startsWith('gate:'));
}

function clock(at: number): string {
  return new Date(at).toLocaleString('sv-SE').slice(0, 16);
}

function isUnchanged({ everywhere, project }: Stored, surroundings: Surroundings): boolean {
  if (everywhere !== digestEverywhere(surroundings)) return false;
  // Another project has other plugins and settings of its own: that is no change.
  return project.folder !== (surroundings.project ?? '') || project.digest === digestProject(surroundings);
}

function digestEverywhere({ candidates, files }: Surroundings): string {
  return hash('sha256', JSON.stringify([files.map(contentOf), candidates.filter(({ tier }) => tier === 'global' || tier === 'npm').map(digestOf)]));
}

function digestProject({ candidates, project, disabled }: Surroundings): string {
  return hash('sha256', JSON.stringify([project && contentOf(join(project, 'config.yaml')), [...disabled].sort(), candidates.filter(({ tier }) => tier === 'project').map(digestOf)]));
}

function digestOf({ manifest, path, entry, bare, problem }: Candidate): string[] {
  const known = [manifest.id, path];
  if (problem) return [...known, problem.reason];
  try {
    return [...known, digestPlugin(entry, bare ? undefined : path)];
  } catch {
    return known; // too large, or gone meanwhile: its place has to do
  }
}

function contentOf(file: string): string {
  try {
    return hash('sha256', readFileSync(file));
  } catch {
    return '';
  }
}

/** What is damaged begins anew: three more starts, and it is there again. */
function readStored(file: string): Stored | undefined {
  // Most starts have none, and an error costs more than the question.
  if (!existsSync(file)) return undefined;
  let parsed: Partial<Stored> | null;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8')) as Partial<Stored> | null;
  } catch {
    return undefined;
  }
  const { version, since, deaths, everywhere, project } = parsed ?? {};
  const whole = version === 1 && typeof since === 'number' && typeof everywhere === 'string' && typeof project?.folder === 'string' && typeof project.digest === 'string' && Array.isArray(deaths) && deaths.every(isDeath);
  return whole ? { version, since, deaths, everywhere, project: { folder: project.folder, digest: project.digest } } : undefined;
}

function isDeath(value: unknown): value is Death {
  const { command, at } = (value ?? {}) as Partial<Record<keyof Death, unknown>>;
  return typeof command === 'string' && /^[a-z0-9-]*$/.test(command) && typeof at === 'number';
}
