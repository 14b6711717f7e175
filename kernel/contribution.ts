/** Contribution tables: a pure fold over what plugins contributed, so that unloading is folding again. */
import type { MemberSpec, PointSpec } from './contribution-spec.ts';
import { KernelError } from './errors.ts';
import type { GuardHost } from './heal/guard.ts';
import { type Fault, FaultError } from './heal/fault.ts';
import { guardMember } from './heal/guard-member.ts';
import type { RecordedItem } from './lazy/contribution-index.ts';
import type { Item } from './plugin.ts';
import { type SlotFunction, type SlotOwner, Slot, type SlotObserver } from './slot.ts';
import { precedence } from './tier.ts';

interface Contribution {
  readonly owner: SlotOwner;
  readonly name: string;
  readonly item: object;
  readonly slots: readonly Slot[];
}

export interface Clash {
  readonly point: string;
  readonly name: string;
  readonly plugin: string;
  /** What the item is called instead. */
  readonly renamed: string;
  readonly winner: string;
}

export class ContributionTable {
  readonly spec: PointSpec;
  readonly #host: GuardHost;
  #contributions: readonly Contribution[] = [];
  #folded: { items: ReadonlyMap<string, Item<unknown>>; clashes: readonly Clash[] } | undefined;

  constructor(spec: PointSpec, host: GuardHost) {
    this.spec = spec;
    this.#host = host;
  }

  get items(): ReadonlyMap<string, Item<unknown>> {
    return this.#fold().items;
  }

  get clashes(): readonly Clash[] {
    return this.#fold().clashes;
  }

  /**
   * Adds one item, its callable members behind slots of their own.
   * @throws KernelError `CONTRACT` for a malformed item
   */
  add(owner: SlotOwner, name: string, item: unknown, observer: SlotObserver): { slots: readonly Slot[]; remove: () => void } {
    const contribution = this.#guarded(owner, name, item, observer);
    return { slots: contribution.slots, remove: this.#put(contribution) };
  }

  /**
   * Adds an item as an earlier start recorded it: a call starts its plugin, and goes to the real one.
   * @param missing what is wrong where the plugin, once started, has no such item
   * @returns removes it
   */
  announce(owner: SlotOwner, { name, values, members }: RecordedItem, start: () => Promise<void> | undefined, missing: (where: string) => Fault): () => void {
    const forward = (member: string, spec: MemberSpec) => async (input: unknown, context: unknown) => {
      await start();
      const real = this.#contributions.find((other) => other.owner === owner && other.name === name && other !== contribution)?.item;
      const run: unknown = real && Reflect.get(real, member);
      if (typeof run === 'function') return (run as SlotFunction)(input, context);
      const fault = missing(`${this.spec.name}/${name}.${member}`);
      if (spec.onFault) return spec.onFault(fault);
      throw new FaultError(fault);
    };
    const specs = Object.entries(this.spec.members as Record<string, MemberSpec>).filter(([member]) => members.includes(member));
    const contribution: Contribution = { owner, name, item: { ...values, ...Object.fromEntries(specs.map(([member, spec]) => [member, forward(member, spec)])) }, slots: [] };
    return this.#put(contribution);
  }

  /** The item a plugin contributed under `name`, guarded. */
  of(owner: SlotOwner, name: string): object | undefined {
    return this.#contributions.find((other) => other.owner === owner && other.name === name)?.item;
  }

  #put(contribution: Contribution): () => void {
    this.#contributions = [...this.#contributions, contribution];
    this.#folded = undefined;
    return () => {
      this.#contributions = this.#contributions.filter((other) => other !== contribution);
      this.#folded = undefined;
    };
  }

  #guarded(owner: SlotOwner, name: string, item: unknown, observer: SlotObserver): Contribution {
    const { spec } = this;
    const where = `${spec.name}/${name}`;
    if (!spec.itemName.test(name)) throw malformed(`"${name}" is no name for ${spec.name}`, `it must match ${spec.itemName.source}`);
    if (typeof item !== 'object' || item === null) throw malformed(`${where} is ${item === null ? 'null' : typeof item}, not an object`, `see the type of ${spec.name}`);
    const problem = spec.check?.(item);
    if (problem) throw malformed(`${where} ${problem}`, `see the type of ${spec.name}`);
    const slots: Slot[] = [];
    const members: Record<string, unknown> = {};
    for (const [member, memberSpec] of Object.entries(spec.members) as [string, MemberSpec<unknown>][]) {
      const fn: unknown = memberSpec.of ? memberSpec.of(item) : Reflect.get(item, member);
      if (fn === undefined && memberSpec.optional) continue;
      if (typeof fn !== 'function') throw malformed(`${where}.${member} is ${fn === undefined ? 'missing' : typeof fn}, not a function`, `see the type of ${spec.name}`);
      const limit = typeof memberSpec.deadline === 'function' ? memberSpec.deadline(item) : (memberSpec.deadline ?? Number.MAX_SAFE_INTEGER);
      if (!(limit > 0)) throw malformed(`${where} has a deadline that is no positive number`, 'correct it');
      const slot = new Slot(owner, `${where}.${member}`, observer, fn as SlotFunction, item);
      slots.push(slot);
      members[member] = guardMember(this.#host, slot, memberSpec as MemberSpec, limit);
    }
    const shown = { ...valuesOf(item), ...members };
    for (const [fact, { read }] of Object.entries(spec.facts ?? {})) Object.defineProperty(shown, fact, { enumerable: true, configurable: true, get: once(() => read(item as never)) });
    return { owner, name, item: shown, slots };
  }

  #fold() {
    if (this.#folded) return this.#folded;
    const items = new Map<string, Item<unknown>>();
    const clashes: Clash[] = [];
    const byStrength = [...this.#contributions].sort(
      (a, b) => precedence.indexOf(a.owner.tier) - precedence.indexOf(b.owner.tier) || (a.owner.id < b.owner.id ? -1 : a.owner.id > b.owner.id ? 1 : 0),
    );
    for (const { owner, name, item } of byStrength) {
      const holder = items.get(name);
      const shown = holder ? `${owner.id}__${name}` : name;
      if (holder) clashes.push({ point: this.spec.name, name, plugin: owner.id, renamed: shown, winner: holder.plugin });
      items.set(shown, { name: shown, plugin: owner.id, tier: owner.tier, item: item as Item<unknown>['item'] });
    }
    this.#folded = { items, clashes };
    return this.#folded;
  }
}

/** Everything an item holds, read once: what lies on its class too, and what a getter says next time does not matter. */
function valuesOf(item: object): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (let level: object | null = item; level !== null && level !== Object.prototype; level = Object.getPrototypeOf(level) as object | null) {
    for (const name of Object.getOwnPropertyNames(level)) {
      if (name !== 'constructor' && !Object.hasOwn(values, name)) Object.defineProperty(values, name, { value: Reflect.get(item, name), enumerable: true, configurable: true, writable: true });
    }
  }
  return values;
}

function once<T>(read: () => T): () => T {
  let value: { readonly read: T } | undefined;
  return () => (value ??= { read: read() }).read;
}

function malformed(what: string, hint: string): KernelError {
  return new KernelError('CONTRACT', { what, hint });
}
