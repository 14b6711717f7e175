/** The life cycle of a plugin: its record, and the one function that changes its state. */
import { KernelError } from './errors.ts';
import type { Logger } from './log.ts';
import type { PluginDefinition, PluginStatic, Requirements } from './plugin.ts';
import type { Scope } from './scope.ts';
import type { Slot, SlotOwner } from './slot.ts';
import type { Tier } from './tier.ts';

export type PluginState = 'discovered' | 'refused' | 'resolved' | 'activated' | 'degraded' | 'quarantined' | 'disposed';

const transitions: Readonly<Record<PluginState, readonly PluginState[]>> = {
  discovered: ['resolved', 'refused', 'quarantined', 'disposed'],
  // A bare file tells its id and engine only when it is loaded: then it can still be refused.
  resolved: ['activated', 'refused', 'quarantined', 'disposed'],
  activated: ['degraded', 'quarantined', 'resolved', 'disposed'],
  degraded: ['activated', 'quarantined', 'resolved', 'disposed'],
  quarantined: ['resolved', 'disposed'],
  refused: ['disposed'],
  disposed: [],
};

/** The static facts of a plugin, however they were told (package.json, or the first argument of definePlugin). */
export interface Manifest {
  readonly id: string;
  readonly version: string;
  readonly engine: string;
  readonly requires: Requirements;
  /** What it names itself; empty where that follows from what it contributes. */
  readonly activateOn: readonly string[];
  readonly capabilities: readonly string[];
}

/** Where a plugin was found. */
export interface Candidate {
  readonly tier: Tier;
  /** What a person would call its place: the folder, or the file of a bare plugin. */
  readonly path: string;
  /** The module to load. */
  readonly entry: string;
  readonly manifest: Manifest;
  /** True when no package.json speaks for it: its static facts come with its code. */
  readonly bare: boolean;
  /** What its content was when it was installed, so that no start has to look. Its path is a real one then. */
  readonly digest?: string;
  /** Looks whether it still is, right before it is loaded. @returns what is wrong */
  readonly changed?: () => string | undefined;
  /** Real folder that its code must not leave: what was trusted. */
  readonly confine?: string;
  /** Built-ins bring their own way to load. */
  readonly load?: () => Promise<{ readonly default: PluginDefinition }>;
  /** What a built-in defines, known before it is loaded. */
  readonly defines?: PluginStatic['defines'];
  /** Found to be unusable before any code ran; `excused` where its absence is accepted. */
  readonly problem?: { readonly reason: string; readonly hint: string; readonly excused?: boolean };
}

export class PluginRecord implements SlotOwner {
  readonly candidate: Candidate;
  readonly log: Logger;
  /** Facts as known now; completed when a bare file is loaded. */
  manifest: Manifest;
  definition: PluginDefinition | undefined;
  state: PluginState = 'discovered';
  /** Why it is in this state, for people. */
  reason: string | undefined;
  /** Digest of its content; keys its health. */
  digest = '';
  scope: Scope | undefined;
  slots: Slot[] = [];
  /** `formats/html`, `hook page.transform`, … */
  contributes: string[] = [];
  /** Takes back what was announced of it before its code was loaded. */
  withdraw: () => void = () => undefined;
  /** What its setup answered, and whether it did more than that. */
  setup: { readonly items: readonly (readonly [point: string, name: string])[]; readonly hooks: readonly string[]; readonly acted: boolean } | undefined;
  /** Its absence is known and accepted (off, untrusted, shadowed, replaced): then a missing guard does not deny. */
  excused = false;
  /** Its activation, while or after it runs; one per life. */
  activation: Promise<void> | undefined;
  /** Counts its activations: one that was given up must not go on beside the next. */
  life = 0;
  /** Depth in the dependency order. */
  rank = 0;

  constructor(candidate: Candidate, log: Logger) {
    this.candidate = candidate;
    this.manifest = candidate.manifest;
    this.log = log;
  }

  get id(): string {
    return this.manifest.id;
  }
  get tier(): Tier {
    return this.candidate.tier;
  }
  get running(): boolean {
    return this.state === 'activated' || this.state === 'degraded';
  }
}

/** @throws KernelError `TRANSITION` for a change the table does not allow */
export function transition(record: PluginRecord, to: PluginState, reason?: string): void {
  if (record.state !== to && !transitions[record.state].includes(to)) {
    throw new KernelError('TRANSITION', { plugin: record.id, from: record.state, to });
  }
  record.state = to;
  record.reason = reason;
}
