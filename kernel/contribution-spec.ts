/** Contribution points: typed tables that plugins add named items to. */
import type { Fault } from './heal/fault.ts';
import type { Json } from './json.ts';

/** All contribution points by name, extended by declaration merging like {@link HookMap}. */
export interface ContributionMap {}

export type PointName = keyof ContributionMap & string;

/**
 * How the kernel guards one callable member of an item.
 * Every callable member takes at most one argument and the call: `(input, call)`.
 *
 * - `call`: one answer within the deadline
 * - `stream`: a `ReadableStream` (or `{ stream }`): deadline to the first part and between parts
 * - `service`: runs as long as it likes; only its faults are guarded
 */
export interface MemberSpec<Item = never> {
  readonly kind: 'call' | 'stream' | 'service';
  /** Milliseconds; a function sees the item, for items that carry their own. */
  readonly deadline?: number | ((item: Item) => number);
  /** Streams: milliseconds to the first part; default `deadline`, which then holds between parts. */
  readonly first?: number;
  /** The answer in place of a failed call. Without one the caller gets a `FaultError`. */
  readonly onFault?: (fault: Fault) => unknown;
  /** True when `value` is what the member may return. */
  readonly check?: (value: unknown) => boolean;
  /** True for errors that are news of the world rather than a fault of the plugin. */
  readonly operational?: (error: unknown) => boolean;
  /** Makes the error of a passed deadline where that is news of the world: a server that stopped sending. */
  readonly late?: (ms: number) => Error;
  /** Whether a third-party item's code can be interrupted when it does not come back; default true. */
  readonly hard?: boolean;
  /** Methods of the returned object that enter the same slot. */
  readonly methods?: Readonly<Record<string, MemberSpec>>;
  /** Makes the function from the item where it is not the member itself: what a schema does is a plugin's code too. */
  readonly of?: (item: Item) => (input: never) => unknown;
  /** Whether an item may leave the member out. */
  readonly optional?: boolean;
}

export interface PointSpec<Item = unknown> {
  readonly name: string;
  /** What an item's name must match. */
  readonly itemName: RegExp;
  /** Returns what is wrong with the item's data, or undefined. */
  readonly check?: (item: Item) => string | undefined;
  readonly members: Readonly<Record<string, MemberSpec<Item>>>;
  /**
   * What stands for members that are no JSON (a schema, say): readers of an item look at the fact `name` instead of the
   * member `of`, and so need not care whether its plugin is loaded yet. A plugin with an item that holds anything else
   * that is no JSON is loaded at every start.
   */
  readonly facts?: Readonly<Record<string, { readonly of: string; readonly read: (item: Item) => Json }>>;
}

/** Declares a contribution point that is in {@link ContributionMap}. */
export function definePoint<Name extends PointName>(
  name: Name,
  spec: Omit<PointSpec<ContributionMap[Name]>, 'name' | 'itemName'> & { readonly itemName?: RegExp },
): PointSpec<ContributionMap[Name]> {
  return { itemName: /^[A-Za-z0-9_-]{1,64}$/, ...spec, name };
}
