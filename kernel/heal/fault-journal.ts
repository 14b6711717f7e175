/** The journal of faults: what went wrong in a plugin over all runs, one bounded file a plugin. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../atomic-write.ts';
import { holdLock } from '../lock-file.ts';
import { type Fault, type FaultKind, oneLine } from './fault.ts';

/** One failure, however often it came. */
export interface FaultRecord {
  readonly fingerprint: string;
  /** Undefined where nobody could be blamed. */
  readonly plugin: string | undefined;
  readonly where: string;
  readonly kind: FaultKind;
  readonly cause: string;
  /** Relative to the plugin's folder. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The line of the source as it was, at most 200 characters. */
  readonly source?: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  readonly action: string;
  readonly next: string;
}

const keptOfPlugin = 50;
/** Failures of one run that are written as they come; the rest waits for its end. */
const writtenAtOnce = 64;
/** Failures of one run that are remembered at all. */
const remembered = 500;
const lockPatience = 500;
/** No plugin can be called so: its faults would be taken for nobody's. */
const nobody = '_unattributed';

export class FaultJournal {
  readonly #folder: string;
  readonly #sourceOf: (fault: Fault) => string | undefined;
  /** What is not written yet, by plugin and fingerprint. */
  readonly #pending = new Map<string, Map<string, FaultRecord>>();
  readonly #seen = new Set<string>();
  /** Plugins whose file this run has written. */
  readonly #written = new Set<string>();

  /** @param sourceOf absolute path of the file a fault is in */
  constructor(folder: string, sourceOf: (fault: Fault) => string | undefined) {
    this.#folder = folder;
    this.#sourceOf = sourceOf;
  }

  note(fault: Fault): void {
    const { fingerprint, plugin = nobody } = fault;
    if (!fingerprint || (!this.#seen.has(fingerprint) && this.#seen.size >= remembered)) return;
    const isNew = !this.#seen.has(fingerprint);
    this.#seen.add(fingerprint);
    const waiting = this.#pending.get(plugin) ?? new Map<string, FaultRecord>();
    this.#pending.set(plugin, waiting);
    const before = waiting.get(fingerprint);
    waiting.set(fingerprint, before ? { ...before, count: before.count + 1, last: fault.at, action: fault.action, next: fault.next } : this.#recordOf(fault));
    if (isNew && this.#seen.size <= writtenAtOnce) this.#write(plugin);
  }

  /** Of one plugin, newest first. */
  read(plugin = nobody): FaultRecord[] {
    return merged(readFile(fileOf(this.#folder, plugin)), this.#pending.get(plugin));
  }

  flush(): void {
    for (const plugin of this.#pending.keys()) {
      // A file that is gone was forgotten meanwhile: counts do not bring it back.
      if (this.#written.has(plugin) && !existsSync(fileOf(this.#folder, plugin))) this.#pending.delete(plugin);
      else this.#write(plugin);
    }
  }

  #write(plugin: string): void {
    const file = fileOf(this.#folder, plugin);
    // Two agents at once add to each other's counts.
    whileHeld(file, () => {
      writeAtomic(file, JSON.stringify(this.read(plugin)));
      this.#written.add(plugin);
      this.#pending.delete(plugin);
    });
  }

  #recordOf(fault: Fault): FaultRecord {
    const { fingerprint, plugin, where, kind, message, place, at, action, next } = fault;
    const source = place && lineOf(this.#sourceOf(fault), place.line);
    return { fingerprint, plugin, where, kind, cause: message, ...place, ...(source !== undefined && { source }), count: 1, first: at, last: at, action, next };
  }
}

/** Where the journal lies in the state folder. */
export function journalFolder(state: string): string {
  return join(state, 'faults');
}

/** Deletes what is on record of a plugin. What cannot be deleted stays: it is memory, and no reason to fail. */
export function forgetFaults(state: string, plugin: string): void {
  const file = fileOf(journalFolder(state), plugin);
  if (existsSync(file)) whileHeld(file, () => rmSync(file, { force: true }));
}

/** Ids of the plugins that have something on record, also of those that are gone. */
export function pluginsWithFaults(state: string): string[] {
  try {
    return readdirSync(journalFolder(state)).flatMap((name) => /^([a-z][a-z0-9-]*)\.json$/.exec(name)?.[1] ?? []);
  } catch {
    // No folder: there was no fault yet.
    return [];
  }
}

function fileOf(folder: string, plugin: string): string {
  return join(folder, `${plugin.replace(/[^\w-]/g, '_')}.json`);
}

/** A full or read-only disk, or one that holds the lock for too long: the run goes on without memory of it. */
function whileHeld(file: string, change: () => void): void {
  try {
    const release = holdLock(`${file}.lock`, file, lockPatience);
    try {
      change();
    } finally {
      release();
    }
  } catch {
    // As above.
  }
}

const maxSource = 200;

/** A line of a source as the journal notes it: at most 200 characters, without its line end. */
export function sourceLine(text: string, line: number): string | undefined {
  return text.split(/\r?\n/)[line - 1]?.slice(0, maxSource);
}

function lineOf(file: string | undefined, line: number): string | undefined {
  try {
    return file === undefined ? undefined : sourceLine(readFileSync(file, 'utf8'), line);
  } catch {
    return undefined;
  }
}

function merged(kept: readonly FaultRecord[], added: ReadonlyMap<string, FaultRecord> = new Map()): FaultRecord[] {
  const all = new Map(kept.map((record) => [record.fingerprint, record]));
  for (const [fingerprint, record] of added) {
    const before = all.get(fingerprint);
    // Another agent may have written a later one meanwhile.
    const latest = before && before.last > record.last ? before : record;
    all.set(fingerprint, before ? { ...latest, count: before.count + record.count, first: Math.min(before.first, record.first) } : record);
  }
  return [...all.values()].sort((a, b) => b.last - a.last).slice(0, keptOfPlugin);
}

/** What is damaged is an empty one. */
function readFile(file: string): FaultRecord[] {
  try {
    const records = JSON.parse(readFileSync(file, 'utf8')) as unknown;
    return Array.isArray(records) ? records.filter(isRecord) : [];
  } catch {
    return [];
  }
}

function isRecord(value: unknown): value is FaultRecord {
  const { plugin, fingerprint, where, kind, cause, file, line, column, source, count, first, last, action, next } = (value ?? {}) as Partial<Record<keyof FaultRecord, unknown>>;
  const optional = (one: unknown, type: string) => one === undefined || typeof one === type;
  return (
    [fingerprint, where, kind, cause, action, next].every((text) => typeof text === 'string') &&
    [count, first, last].every((number) => Number.isFinite(number)) &&
    [plugin, file, source].every((text) => optional(text, 'string')) &&
    [line, column].every((number) => optional(number, 'number'))
  );
}

/** The cause in one line, with its place. */
export function faultTitle({ where, cause, file, line, column }: FaultRecord): string {
  return oneLine(`${where.replace(/\.run$/, '')}: ${cause}${file === undefined ? '' : ` (${file}:${line ?? 0}:${column ?? 0})`}`);
}
