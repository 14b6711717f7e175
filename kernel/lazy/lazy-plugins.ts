/** Plugins that are there without being loaded: announced from the index, and recorded for the next start. */
import { hash } from 'node:crypto';
import { isKernelError } from '../errors.ts';
import { freezeJson, type Json } from '../json.ts';
import type { Manifest, PluginRecord } from '../lifecycle.ts';
import type { Registry } from '../registry.ts';
import { isPure } from './pure-source.ts';
import { ContributionIndex, type RecordedItem, type RecordedPlugin } from './contribution-index.ts';

export interface LazyHost {
  readonly file: string;
  readonly version: string;
  readonly registry: Registry;
  /** The plugin's part of the configuration, unchecked. */
  readonly configOf: (record: PluginRecord) => unknown;
  /** Accepts what a bare file told when it was recorded. @throws Refusal */
  readonly admit: (record: PluginRecord, manifest: Manifest) => void;
  /** Whether something of the plugin still runs in the process: its setup left it there. */
  readonly isBusy: (record: PluginRecord) => boolean;
}

const atStart = 'onStartup';
/** The author's word that setup only answers, whatever else is in the source. */
const onDemand = 'onDemand';
/** For whoever looks at plugins themselves: everything is loaded. */
const onInspect = 'onInspect';

export class LazyPlugins {
  readonly #host: LazyHost;
  readonly #index: ContributionIndex;
  readonly #keys = new Map<PluginRecord, string>();
  readonly #announced = new Set<PluginRecord>();
  /** The setup each was last noted for. */
  readonly #remembered = new Map<PluginRecord, PluginRecord['setup']>();

  constructor(host: LazyHost) {
    this.#host = host;
    this.#index = new ContributionIndex(host.file);
  }

  /**
   * Announces what the index knows of a plugin, if it may be taken at its word.
   * @returns the events it waits for
   * @throws Refusal
   */
  announce(record: PluginRecord, isTrusted: boolean): readonly string[] {
    const { activateOn } = record.manifest;
    const recorded = isTrusted && record.tier !== 'builtin' ? this.#index.find(record.candidate.path, this.#keyOf(record)) : undefined;
    // Unless it says so itself, its code has to tell once what there is to wait for.
    if (!recorded) return activateOn.length > 0 && !activateOn.includes(onDemand) ? activateOn : [atStart];
    if (record.candidate.bare) this.#host.admit(record, recorded.manifest);
    const named = record.manifest.activateOn;
    if (named.includes(atStart) || (named.length === 0 && recorded.dynamic)) return [atStart];
    this.#host.registry.announce(record, recorded.items, recorded.hooks);
    this.#announced.add(record);
    // A guard is asked whether it taps its gate today or not: while it is not there, it denies.
    const gates = record.manifest.capabilities.flatMap((capability) => (capability.startsWith('gate:') ? [`hook:${capability.slice('gate:'.length)}`] : []));
    return [...new Set([...named, pluginEvent(record), onInspect, ...recorded.hooks.map((hook) => `hook:${hook}`), ...gates])];
  }

  /** Notes what those that run have contributed. */
  remember(records: readonly PluginRecord[]): void {
    for (const record of records) {
      if (record.tier === 'builtin' || !record.setup || record.state !== 'activated' || this.#remembered.get(record) === record.setup) continue;
      this.#remembered.set(record, record.setup);
      // What was not announced in spite of its record is loaded at each start: it need not be looked at again.
      if (!this.#announced.has(record) && this.#index.find(record.candidate.path, this.#keyOf(record))) continue;
      this.#index.put(record.candidate.path, this.#recordOf(record));
    }
    this.#index.save();
  }

  #recordOf(record: PluginRecord): RecordedPlugin | undefined {
    const { registry, isBusy } = this.#host;
    const { items, hooks, acted } = record.setup ?? { items: [], hooks: [], acted: true };
    const recorded = items.map(([point, name]) => recordedItem(registry, record, point, name));
    if (!recorded.every((item) => item !== undefined)) return undefined;
    const { defines } = record.definition?.static ?? {};
    // What the setup answers may be another the next time; whoever only watches, defines or works in its setup has nothing that could wake it; nobody waits for a synchronous hook.
    const dynamic = acted || !isPure(record.candidate.entry) || isBusy(record) || items.length + hooks.length === 0 || Boolean(defines?.hooks?.length || defines?.points?.length) || hooks.some((hook) => registry.modeOf(hook) !== 'async');
    return { key: this.#keyOf(record), manifest: record.manifest, items: recorded, hooks, dynamic };
  }

  #keyOf(record: PluginRecord): string {
    const known = this.#keys.get(record);
    if (known !== undefined) return known;
    // As it was found: a bare file may tell another id.
    const key = hash('sha256', JSON.stringify([this.#host.version, record.digest, this.#host.configOf(record) ?? null]));
    this.#keys.set(record, key);
    return key;
  }
}

/** Fired by whoever calls an announced item. */
export function pluginEvent(record: PluginRecord): string {
  return `plugin:${record.id}`;
}

/** An item as JSON; undefined where it holds anything else. */
function recordedItem(registry: Registry, record: PluginRecord, point: string, name: string): RecordedItem | undefined {
  const found = registry.contributed(record, point, name);
  if (!found) return undefined;
  const { spec, item } = found;
  const standsFor = new Set(Object.values(spec.facts ?? {}).map(({ of }) => of));
  const values: Record<string, Json> = {};
  const members: string[] = [];
  try {
    for (const [key, value] of Object.entries(item) as [string, unknown][]) {
      if (typeof value === 'function') {
        if (key in spec.members) members.push(key);
      } else if (value !== undefined && !standsFor.has(key)) values[key] = freezeJson(structuredClone(value) as Json);
    }
  } catch (error) {
    if (isKernelError(error) || error instanceof DOMException) return undefined;
    throw error;
  }
  return { point, name, values, members };
}
