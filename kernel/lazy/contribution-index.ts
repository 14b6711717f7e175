/** The contribution index: what each plugin's setup answered, kept so that a later start needs none of its code. */
import { hash } from 'node:crypto';
import { writeAtomic } from '../atomic-write.ts';
import type { Json } from '../json.ts';
import type { Manifest } from '../lifecycle.ts';
import { readPlainFile } from '../paths.ts';

/** One item of a contribution point without its code. */
export interface RecordedItem {
  readonly point: string;
  readonly name: string;
  readonly values: Readonly<Record<string, Json>>;
  /** The callable members it has. */
  readonly members: readonly string[];
}

export interface RecordedPlugin {
  /** Of everything the answer depends on; a record under another key is stale. */
  readonly key: string;
  /** What a bare file told of itself. */
  readonly manifest: Manifest;
  readonly items: readonly RecordedItem[];
  /** The hooks it taps. */
  readonly hooks: readonly string[];
  /** Its setup did more than answer: unless the plugin names its events, its code runs at each start. */
  readonly dynamic: boolean;
}

const format = 1;
/** Records that are kept; the ones used longest ago go first. */
const maxRecords = 1_000;
const maxRecordBytes = 65_536;
const maxIndexBytes = 32_000_000;

/**
 * One file for all plugins of this user. What cannot be read, or is not what was written, is no record: it is made
 * anew by the next start. Two agents may write at once; the later one wins, and the other's plugins load once more.
 */
export class ContributionIndex {
  readonly #file: string;
  #records: Map<string, RecordedPlugin> | undefined;
  #isChanged = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** The record of the plugin at `path`, if it is the one of `key`. */
  find(path: string, key: string): RecordedPlugin | undefined {
    const record = this.#load().get(path);
    return record?.key === key ? record : undefined;
  }

  /** Keeps `record` in place of the one before; none, or one too large, is forgotten. */
  put(path: string, record: RecordedPlugin | undefined): void {
    const records = this.#load();
    const before = records.get(path);
    const text = record && JSON.stringify(record);
    if ((before && JSON.stringify(before)) === text) return;
    records.delete(path);
    if (record && text !== undefined && text.length <= maxRecordBytes) records.set(path, record);
    this.#isChanged = true;
  }

  /** Writes what has changed. A disk that cannot be written costs the next start its speed, and nothing else. */
  save(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const body = JSON.stringify([...this.#load()].slice(-maxRecords));
    try {
      writeAtomic(this.#file, `${JSON.stringify({ format, sha256: hash('sha256', body) })}\n${body}`);
    } catch {
      // As above.
    }
  }

  #load(): Map<string, RecordedPlugin> {
    return (this.#records ??= new Map(readRecords(this.#file)));
  }
}

function readRecords(file: string): [string, RecordedPlugin][] {
  try {
    const text = readPlainFile(file);
    const end = text.indexOf('\n');
    const head = JSON.parse(text.slice(0, end)) as { format?: unknown; sha256?: unknown };
    const body = text.slice(end + 1);
    if (text.length > maxIndexBytes || head.format !== format || head.sha256 !== hash('sha256', body)) return [];
    return JSON.parse(body) as [string, RecordedPlugin][];
  } catch {
    return [];
  }
}
