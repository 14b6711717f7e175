/**
 * The supervisor: turns failures into faults, counts them, and decides who is degraded, quarantined,
 * probed or well again.
 */
import { describeError, type Fault, faultCause, type FaultKind, fingerprint, oneLine, pluginIsOff, withoutPosition } from './fault.ts';
import { isKernelError } from '../errors.ts';
import { type Health, type HealthStore, type Quarantine, type SlotHealth, quarantineFor } from './health.ts';
import { type PluginRecord, transition } from '../lifecycle.ts';
import type { Provenance } from './provenance.ts';
import type { Slot, SlotObserver } from '../slot.ts';

const cleanCallsToRecover = 50;
const sameFaultLimit = 3;
const faultLimit = 5;
const faultWindowMs = 60_000;
const maxFingerprints = 20;

/** Kinds that show a plugin cannot be waited for or never came up: once is enough. */
const fatal: ReadonlySet<FaultKind> = new Set(['timeout', 'hang', 'crash', 'load', 'setup']);

/** What a fault led to: nothing more, its slot is off, or the whole plugin is. */
type Verdict = 'counted' | 'slot' | 'plugin';

export interface SupervisorHost {
  readonly provenance: Provenance;
  readonly health: HealthStore;
  readonly now: () => number;
  /** Tells everybody who listens. */
  readonly report: (fault: Fault) => void;
  /** Takes a plugin down: its registrations go, its dependents fall back. */
  readonly takeDown: (record: PluginRecord) => void;
}

export class Supervisor implements SlotObserver {
  readonly #host: SupervisorHost;
  readonly #health = new Map<PluginRecord, Health>();
  readonly #seen = new WeakSet<object>();

  constructor(host: SupervisorHost) {
    this.#host = host;
  }

  /** Reads the record of what this content did before. */
  recall(record: PluginRecord): Health {
    // What surfaces in a part of the agent itself is often another plugin's doing, and without that part nobody
    // could mend it: such a part is off for the rest of a run at most.
    const health = record.tier === 'builtin' ? { id: record.id, digest: record.digest, transient: true, slots: {} } : this.#host.health.load(record.id, record.digest);
    this.#health.set(record, health);
    return health;
  }

  /** Puts a new slot under what is known of it. */
  admit(record: PluginRecord, slot: Slot): void {
    const slots = this.#health.get(record)?.slots ?? {};
    const known = slots[slot.key];
    slot.watched = Object.keys(slots).length > 0;
    if (!known) return;
    if (known.quarantine) {
      slot.closedBy = this.#remembered(record, slot.key, known.quarantine);
      slot.open = false;
    }
    if (record.state === 'activated') transition(record, 'degraded', reasonOf(slot.key, known));
  }

  failed(slot: Slot, kind: FaultKind, error: unknown): Fault {
    // A call into another plugin's service has no slot of its own; where it was interrupted tells whose code it was.
    const owner = kind === 'hang' ? this.#host.provenance.ownerInStack(error) : undefined;
    if (owner && owner !== slot.owner) return this.fault(owner as PluginRecord, 'service', kind, error);
    return this.fault(slot.owner as PluginRecord, slot.key, kind, error, slot);
  }

  clean(slot: Slot): void {
    const record = slot.owner as PluginRecord;
    const health = this.#health.get(record);
    const own = health?.slots[slot.key];
    if (health && own?.quarantine) this.#probed(record, slot, health, own);
    // What no slot stands for (a timer, the log) is well again when the plugin's calls are.
    const counted = Object.entries(health?.slots ?? {}).filter(([key]) => key === slot.key || !record.slots.some((one) => one.key === key));
    slot.watched = counted.length > 0;
    const well = counted.filter(([, known]) => ++known.clean >= cleanCallsToRecover);
    if (!health || well.length === 0) return;
    for (const [key] of well) delete health.slots[key];
    this.#host.health.save(health);
    if (record.state === 'degraded' && Object.keys(health.slots).length === 0) transition(record, 'activated');
  }

  /**
   * Counts one failure of a plugin and acts on it. `record` is undefined when nobody could be blamed.
   * @param where the slot's key, or `load`, `setup`, `stray`, …
   */
  fault(record: PluginRecord | undefined, where: string, kind: FaultKind, error: unknown, slot?: Slot): Fault {
    if (typeof error === 'object' && error !== null) this.#seen.add(error);
    const place = this.#host.provenance.place(error, record);
    const told = place ? withoutPosition(describeError(error)) : describeError(error);
    const message = `${told.startsWith('threw ') || isKernelError(error) ? '' : verb(kind)}${told.replace(/\.$/, '')}`;
    const base = {
      kind,
      plugin: record?.id,
      tier: record?.tier,
      where,
      message,
      place,
      fingerprint: fingerprint(record?.id, where, kind, message, place),
      at: this.#host.now(),
    };
    if (!record) return this.#tell({ ...base, action: 'the run went on', next: 'No plugin could be blamed; please report it.' });
    // What is already off is only told about: a timer that goes on throwing must not fill the disk.
    const off = record.state === 'quarantined' || record.state === 'refused' || record.state === 'disposed';
    const hint = isKernelError(error) ? oneLine(String(error.hint)) : '';
    const verdict = off ? 'plugin' : this.#count(record, where, kind, { ...base, hint }, slot);
    return this.#tell({ ...base, ...phrase(record, verdict, slot, hint) }, record, slot, verdict);
  }

  /** Why a guard that is declared and not there denies, or an item that was announced cannot be called. */
  absent(record: PluginRecord, where: string, action = 'denied'): Fault {
    return {
      kind: 'load',
      plugin: record.id,
      tier: record.tier,
      where,
      message: record.running ? `plugin ${record.id} does not have it any more` : `plugin ${record.id} is ${record.state}${record.reason ? `: ${record.reason}` : ''}`,
      place: undefined,
      fingerprint: fingerprint(record.id, where, 'load', record.state, undefined),
      at: this.#host.now(),
      action,
      next: '',
    };
  }

  /** Whether this very error was told of before. */
  known(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.#seen.has(error);
  }

  /** Opens one quarantined slot or names one quarantined plugin whose probe is due. */
  dueProbe(records: Iterable<PluginRecord>): PluginRecord | undefined {
    const now = this.#host.now();
    for (const record of records) {
      const health = this.#health.get(record);
      if (!health) continue;
      if (record.state === 'quarantined' && isDue(health.quarantine, now)) return record;
      for (const slot of record.slots) {
        const known = health.slots[slot.key];
        if (slot.open || !known || !isDue(known.quarantine, now)) continue;
        slot.open = true; // half open: the next call is the probe
        return undefined;
      }
    }
    return undefined;
  }

  /** The person's word: forget what this content did. */
  pardon(record: PluginRecord): void {
    const health: Health = { id: record.id, digest: record.digest, slots: {} };
    this.#health.set(record, health);
    this.#host.health.save(health);
    for (const slot of record.slots) {
      slot.open = true;
      slot.watched = false;
      slot.closedBy = undefined;
    }
    if (record.state === 'degraded') transition(record, 'activated');
  }

  /** Writes what is only counted in memory. */
  flush(): void {
    for (const health of this.#health.values()) if (Object.keys(health.slots).length > 0) this.#host.health.save(health);
  }

  /** One line for each plugin or part of one that is off since before `since`, or was not started at all. */
  notices(records: Iterable<PluginRecord>, since: number): string[] {
    const lines: string[] = [];
    for (const record of records) {
      const quarantine = record.state === 'quarantined' ? this.quarantineOf(record) : undefined;
      if (quarantine && quarantine.at < since) {
        lines.push(`plugin ${record.id} is off since ${shortTime(quarantine.at)}: ${quarantine.cause}. ${remedy(record.id, quarantine.hint)}`);
      } else if (record.state === 'refused' && !record.excused) lines.push(`plugin ${record.id} (${record.candidate.path}) was not started: ${record.reason}`);
      for (const slot of record.running ? record.slots : []) {
        const known = slot.closedBy;
        if (!slot.open && known && known.at < since) lines.push(`plugin ${record.id}: ${slot.key.replace(/\.run$/, '')} is off since ${shortTime(known.at)}: ${known.message}. ${known.next}`);
      }
    }
    return lines;
  }

  quarantineOf(record: PluginRecord): Quarantine | undefined {
    return this.#health.get(record)?.quarantine;
  }

  /** `hook page.transform TypeError: …` for each slot on record. */
  reasons(record: PluginRecord): string[] {
    return Object.entries(this.#health.get(record)?.slots ?? {}).map(([key, known]) => reasonOf(key, known));
  }

  /** The half-open call came through: it may run again, but one more fault closes it at once. */
  #probed(record: PluginRecord, slot: Slot, health: Health, known: SlotHealth): void {
    known.past = known.quarantine;
    delete known.quarantine;
    for (const print of Object.keys(known.counts)) known.counts[print] = sameFaultLimit - 1;
    slot.closedBy = undefined;
    this.#host.health.save(health);
    if (record.state === 'activated') transition(record, 'degraded', reasonOf(slot.key, known));
  }

  /** A plugin that came up after a probe: what kept it down is forgotten, its slots stay watched. */
  revived(record: PluginRecord): void {
    const health = this.#health.get(record);
    if (!health) return;
    delete health.quarantine;
    delete health.slots['load'];
    delete health.slots['setup'];
    this.#host.health.save(health);
    // What no slot stands for (a timer, the log) was noticed by none when it was admitted.
    const [known] = Object.entries(health.slots);
    if (known && record.state === 'activated') transition(record, 'degraded', reasonOf(...known));
  }

  #count(record: PluginRecord, where: string, kind: FaultKind, base: Pick<Fault, 'fingerprint' | 'message' | 'at' | 'place' | 'where'> & { readonly hint: string }, slot?: Slot): Verdict {
    const health = this.#health.get(record) ?? this.recall(record);
    const known = (health.slots[where] ??= { counts: {}, recent: [], clean: 0, cause: '' });
    const cause = faultCause(base);
    known.cause = base.message + (base.place ? ` (${base.place.file}:${base.place.line})` : '');
    known.clean = 0;
    for (const print of Object.keys(known.counts).slice(0, -maxFingerprints)) delete known.counts[print];
    const count = (known.counts[base.fingerprint] = (known.counts[base.fingerprint] ?? 0) + 1);
    known.recent = [...known.recent.filter((at) => base.at - at < faultWindowMs), base.at].slice(-faultLimit);
    const probeFailed = known.quarantine !== undefined;
    const close = fatal.has(kind) || slot?.gate || probeFailed || count >= sameFaultLimit || known.recent.length >= faultLimit;
    let verdict: Verdict = 'counted';
    if (close) {
      known.quarantine = quarantineFor({ cause: known.cause, hint: base.hint }, base.at, known.quarantine ?? known.past);
      const closed = Object.values(health.slots).filter((one) => one.quarantine).length;
      const whole = record.tier !== 'builtin' && (!slot || closed > 1);
      verdict = whole ? 'plugin' : 'slot';
      if (whole) health.quarantine = slot ? quarantineFor({ cause, hint: base.hint }, base.at, health.quarantine) : { ...known.quarantine, cause };
    }
    for (const one of slot ? [slot] : record.slots) one.watched = true;
    if (record.id !== health.id) health.told = record.id;
    this.#host.health.save(health);
    return verdict;
  }

  #tell(fault: Fault, record?: PluginRecord, slot?: Slot, verdict?: Verdict): Fault {
    if (slot && verdict !== 'counted') {
      slot.open = false;
      slot.closedBy = fault;
    }
    if (record && verdict === 'plugin' && record.state !== 'quarantined' && record.state !== 'refused' && record.state !== 'disposed') {
      transition(record, 'quarantined', faultCause(fault));
      for (const one of record.slots) {
        one.open = false;
        one.closedBy ??= fault;
      }
      this.#host.takeDown(record);
    } else if (record?.running) transition(record, 'degraded', faultCause(fault));
    this.#host.report(fault);
    return fault;
  }

  #remembered(record: PluginRecord, where: string, quarantine: Quarantine): Fault {
    return {
      kind: 'threw',
      plugin: record.id,
      tier: record.tier,
      where,
      message: quarantine.cause,
      place: undefined,
      fingerprint: '',
      at: quarantine.at,
      action: `off since ${new Date(quarantine.at).toISOString()}`,
      next: remedy(record.id, quarantine.hint),
    };
  }
}

function isDue(quarantine: Quarantine | undefined, now: number): boolean {
  return quarantine?.nextProbe !== undefined && quarantine.nextProbe <= now;
}

function reasonOf(where: string, known: SlotHealth): string {
  const part = where.replace(/\.run$/, '');
  return known.quarantine ? `${part} is off: ${known.cause}` : `${part}: ${known.cause}`;
}

function verb(kind: FaultKind): string {
  return kind === 'threw' || kind === 'rejected' || kind === 'stray' ? 'threw ' : '';
}

/** What the person can do about what is off. */
export function remedy(id: string, hint = ''): string {
  return `${hint ? `${capitalise(hint)}; then` : 'Fix it and'} it is tried again, or run: agent plugin release ${id}`;
}

function phrase(record: PluginRecord, verdict: Verdict, slot: Slot | undefined, hint: string): { action: string; next: string } {
  if (verdict === 'plugin') return { action: pluginIsOff, next: remedy(record.id, hint) };
  if (verdict === 'slot' && !slot) return { action: 'it is off for this run', next: remedy(record.id, hint) };
  if (verdict === 'slot') return { action: slot?.gate ? 'it denies until this is settled' : 'this part is off, the rest of the plugin works', next: remedy(record.id, hint) };
  return { action: slot?.key.startsWith('hook ') ? 'the run went on without it' : 'contained', next: `${hint ? `${capitalise(hint)}. ` : ''}See: agent plugin list` };
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function shortTime(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
