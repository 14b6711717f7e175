/** Who is told of a fault: those that listen, once a failure, and the journal. */
import { describeError, type Fault } from './fault.ts';
import { FaultJournal, journalFolder } from './fault-journal.ts';
import { join } from 'node:path';
import type { PluginRecord } from '../lifecycle.ts';
import type { Disposable } from '../scope.ts';

const kept = 256;

export class FaultDesk {
  readonly journal: FaultJournal;
  readonly #records: readonly PluginRecord[];
  readonly #listeners = new Set<(fault: Fault) => void>();
  readonly #faults: Fault[] = [];
  readonly #told = new Set<string>();

  /** @param state the folder the journal lies in */
  constructor(state: string, records: readonly PluginRecord[]) {
    this.#records = records;
    this.journal = new FaultJournal(journalFolder(state), ({ plugin, place }) => {
      const candidate = this.#recordOf(plugin)?.candidate;
      return candidate && place && (candidate.bare ? candidate.entry : join(candidate.path, place.file));
    });
  }

  /** The latest faults of this run, each told once. */
  get faults(): readonly Fault[] {
    return this.#faults;
  }

  listen(listener: (fault: Fault) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  report(fault: Fault): void {
    this.journal.note(fault);
    // Each failure is told once a run, and once more when it changes what is off.
    const key = `${fault.fingerprint} ${fault.action}`;
    if (this.#told.has(key) || this.#told.size >= kept) return;
    this.#told.add(key);
    this.#faults.push(fault);
    for (const listener of this.#listeners) {
      try {
        listener(fault);
      } catch (error) {
        // Telling of a fault must not become one: it would surface in whoever caused the first.
        this.#recordOf(fault.plugin)?.log.error(`a listener failed: ${describeError(error)}`);
      }
    }
  }

  #recordOf(id: string | undefined): PluginRecord | undefined {
    return this.#records.find((record) => record.id === id);
  }
}
