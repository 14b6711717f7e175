/** The watchdog: a thread that sees when this one does not move, and what is done about it. */
import { closeSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { Disposable } from '../scope.ts';
import { hangError, Interrupter, isInterrupted } from './interrupt.ts';
import { setInterval } from './own-timers.ts';
import { makeFolder } from '../paths.ts';
import { beatCell, type Stall, watch, type WatchdogOrders, type WatchedFolder } from './watchdog-thread.ts';

/** In milliseconds. */
export interface Patience {
  /** How long one synchronous call into a plugin may take. */
  readonly entry: number;
  /** How long the event loop may stand still where nothing can be interrupted. */
  readonly stall: number;
}

const usual: Patience = { entry: 3_000, stall: 5_000 };
const blamelessMs = 60_000;
const beatMs = 200;
/** Exit code of a process the watchdog has ended. */
const endCode = 70;

export interface WatchdogOptions {
  /** Folder of the records of stalls. */
  readonly records: string;
  readonly patience?: Patience | undefined;
  /** Told when the process has to end: what the person can do. */
  readonly advice?: string | undefined;
  /** Folder of the plugin whose code runs now; undefined where nobody's does, or the agent's own. */
  readonly running?: () => string | undefined;
}

export class Watchdog implements Disposable {
  readonly interrupter: Interrupter;
  readonly #cells = new Int32Array(new SharedArrayBuffer(16));
  readonly #place = new Uint8Array(new SharedArrayBuffer(4_096));
  readonly #options: WatchdogOptions;
  readonly #patience: Patience;
  readonly #folders: WatchedFolder[] = [];
  // Taken before containment refuses it to plugins, whose code may be on the stack when it is needed.
  readonly #reallyExit = (process as unknown as { reallyExit(code: number): never }).reallyExit.bind(process);
  #isLeaving = false;
  #worker: Worker | undefined;
  #beat: NodeJS.Timeout | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#patience = options.patience ?? usual;
    this.interrupter = new Interrupter(this.#cells, this.#patience.entry, this.#place, (slot) => this.#ownerAt(({ id }) => id === slot.owner.id));
  }

  /** Folder of the records of stalls. */
  get records(): string {
    return this.#options.records;
  }

  /** Watches over a plugin's code from now on. The thread starts with the first: an agent without plugins does not pay for it. */
  over(folder: WatchedFolder): void {
    const known = this.#folders.findIndex(({ path }) => path === folder.path);
    if (this.#folders[known]?.id === folder.id) return;
    // A bare file tells its id when it is loaded.
    this.#folders.splice(known < 0 ? this.#folders.length : known, 1, folder);
    // At a breakpoint of an author everything stands still, and must.
    if (process.getBuiltinModule('node:inspector').url() !== undefined) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage(this.#folders);
  }

  /**
   * Runs code of a plugin that no slot stands for: loading, setting up, disposing.
   * @param path of its folder
   * @throws KernelError `HANG`; Interrupted when the person pressed Ctrl-C
   */
  interruptible<T>(fn: () => T, path: string): T {
    try {
      return this.interrupter.run(fn, undefined, this.#ownerAt(({ path: one }) => one === path));
    } catch (error) {
      if (!isInterrupted(error) || error.byPerson) throw error;
      throw hangError(error);
    }
  }

  /** From now on plugins are taken down: an end does not change what the process came to. */
  leaving(): void {
    this.#isLeaving = true;
  }

  #ownerAt(isOwner: (folder: WatchedFolder) => boolean): number {
    return this.#folders.findIndex(isOwner) + 1;
  }

  dispose(): void {
    clearInterval(this.#beat);
    this.interrupter.disarm();
    void this.#worker?.terminate();
    this.#worker = undefined;
  }

  #start(): Worker {
    const { entry, stall } = this.#patience;
    const key = `newt.end.${crypto.randomUUID()}`;
    const end = (): never => {
      closeSync(2); // else Node says there that it waits for a debugger
      // What was to be done is done: only the taking down hangs.
      return this.#reallyExit(this.#isLeaving ? Number(process.exitCode ?? endCode) : endCode);
    };
    Object.defineProperty(globalThis, Symbol.for(key), { value: Object.assign(end, { who: () => this.#options.running?.() ?? '' }) });
    const orders: WatchdogOrders = { cells: this.#cells, place: this.#place, entryMs: entry, stallMs: stall, blamelessMs, records: this.#options.records, advice: this.#options.advice ?? '', isTerminal: process.stderr.isTTY === true, who: `globalThis[Symbol.for("${key}")].who()`, end: `globalThis[Symbol.for("${key}")]()` };
    // Threads cost two milliseconds of a start, and most starts have no plugin to watch.
    const threads = process.getBuiltinModule('node:worker_threads');
    const worker = new threads.Worker(`(${watch.toString()})()`, { eval: true, workerData: orders, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 } });
    worker.on('error', () => undefined); // without it hangs are as they would be without a watchdog
    worker.unref();
    expectFatalErrors(this.#options.records);
    this.#beat = setInterval(() => void Atomics.add(this.#cells, beatCell, 1), beatMs);
    this.#beat.unref();
    this.interrupter.arm();
    return worker;
  }
}

/** Lets V8 leave a word when memory runs out, where no code of ours runs any more: without the environment, which holds secrets. */
function expectFatalErrors(folder: string): void {
  const { report } = process;
  if (!report) return;
  makeFolder(folder);
  Object.assign(report, { reportOnFatalError: true, directory: folder, filename: lastWordOf(process.pid), compact: true, excludeEnv: true, excludeNetwork: true });
}

function lastWordOf(pid: number): string {
  return `fatal-${pid}.report`;
}

/** What the end of process `pid` was, where it left a word; told once. */
export function lastWord(folder: string, pid: number): string | undefined {
  const file = join(folder, lastWordOf(pid));
  try {
    const { event = '' } = (JSON.parse(readFileSync(file, 'utf8')) as { header?: { event?: string } }).header ?? {};
    return /heap|memory|alloc/i.test(event) ? 'out of memory' : event || undefined;
  } catch {
    return undefined; // it was killed, or the disk was full
  } finally {
    rmSync(file, { force: true });
  }
}

/** What earlier processes were ended for; told once. */
export function takeStalls(folder: string): Stall[] {
  return listed(folder).flatMap((name) => {
    const file = join(folder, name);
    try {
      const { path, id, file: at, line, ms } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Stall>;
      return typeof path === 'string' && typeof id === 'string' && typeof at === 'string' && typeof line === 'number' && typeof ms === 'number' ? [{ path, id, file: at, line, ms, at: 0 }] : [];
    } catch {
      return []; // torn by a full disk
    } finally {
      // The log of that process has an open call as well, for which nobody is to be blamed again.
      renameSync(file, file.replace(/\.json$/, told));
    }
  });
}

/** Whether process `pid` was ended for a stall somebody was blamed for; told once. */
export function wasBlamed(folder: string, pid: number): boolean {
  const records = listed(folder, told).filter((name) => name.startsWith(`${pid}-`));
  for (const name of records) rmSync(join(folder, name), { force: true });
  return records.length > 0;
}

const told = '.told';
/** Of stalls in folders nobody has come back to. */
const toldKept = 50;

function listed(folder: string, ending = '.json'): string[] {
  try {
    const names = readdirSync(folder);
    for (const name of names.filter((one) => one.endsWith(told)).slice(0, -toldKept)) rmSync(join(folder, name), { force: true });
    return names.filter((name) => name.endsWith(ending));
  } catch {
    return [];
  }
}
