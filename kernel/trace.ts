/** Traces: which taps ran, in which order. Nothing is paid for it while nobody traces. */
export interface TraceEntry {
  /** Milliseconds, monotonic. */
  readonly at: number;
  readonly hook: string;
  readonly plugin: string;
}

const keptPerPlugin = 256;

export class Trace {
  readonly #entries = new Map<string, TraceEntry[]>();

  add(hook: string, plugin: string): void {
    const entries = this.#entries.get(plugin) ?? [];
    this.#entries.set(plugin, entries);
    entries.push({ at: performance.now(), hook, plugin });
    if (entries.length > keptPerPlugin) entries.shift();
  }

  /** The latest 256 entries of each plugin, oldest first. */
  entries(plugin?: string): readonly TraceEntry[] {
    if (plugin !== undefined) return this.#entries.get(plugin) ?? [];
    return [...this.#entries.values()].flat().sort((a, b) => a.at - b.at);
  }
}
