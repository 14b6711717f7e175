/**
 * The watchdog's thread. It is handed over as source text, so that it runs the same from a bundle and from a
 * checkout: nothing in {@link watch} may refer to anything outside of it.
 *
 * Shared memory: the entry being run (0: none, negative: claimed by the watchdog), and a count that the event
 * loop's heart-beat moves.
 */
export const entryCell = 0;
export const beatCell = 1;
/** The plugin whose code an entry runs: its place in the list of folders, from 1 on. */
export const ownerCell = 2;
/** 1 while a claimed entry that came back after all waits for its signal. */
export const awaitedCell = 3;
/** A position in a file that could not be told. */
export const nowhere = 0;

export interface WatchedFolder {
  /** Absolute real path of a plugin's folder, or of its one file. */
  readonly path: string;
  readonly id: string;
}

export interface WatchdogOrders {
  readonly cells: Int32Array;
  /** Where the entry that was claimed is: `file:line:column` in UTF-8, its length in the first two bytes. */
  readonly place: Uint8Array;
  /** Milliseconds one synchronous call may take. */
  readonly entryMs: number;
  /** Milliseconds the event loop may stand still outside of a call that can be interrupted. */
  readonly stallMs: number;
  /** Milliseconds after which a stall that no plugin can be blamed for ends the process as well. */
  readonly blamelessMs: number;
  /** Folder for the record of a stall, made on demand. */
  readonly records: string;
  /** Told beside the end of the process: what the person can do. */
  readonly advice: string;
  /** Whether it is told on a terminal, where something may stand in the line already. */
  readonly isTerminal: boolean;
  /** Evaluated in the paused main thread: the folder of the plugin that runs; empty for none. */
  readonly who: string;
  /** Evaluated in the paused main thread to end the process. */
  readonly end: string;
}

/** What is left for the next start. */
export interface Stall extends WatchedFolder {
  readonly file: string;
  readonly line: number;
  readonly ms: number;
  readonly at: number;
}

/** Runs in the thread. */
export function watch(): void {
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const inspector = process.getBuiltinModule('node:inspector');
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  const { sep } = process.getBuiltinModule('node:path');
  const fs = process.getBuiltinModule('node:fs');
  const { cells, place, entryMs, stallMs, blamelessMs, records, advice, isTerminal, who, end } = workerData as WatchdogOrders;
  type Debug = InstanceType<typeof inspector.Session>;
  interface Frame {
    readonly folder: WatchedFolder;
    readonly file: string;
    readonly line: number;
    readonly column: number;
    readonly callFrameId: string;
  }
  const tick = 50;
  let folders: readonly WatchedFolder[] = [];
  parentPort?.on('message', (message: readonly WatchedFolder[]) => (folders = message));

  /** Milliseconds of processor time, of all threads. */
  const worked = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  // On a busy machine little happens in a second: a span is over when the process worked through most of it. What
  // only waits, and works no more, gets four times as long.
  const isOver = (ms: number, work: number, limit: number): boolean => ms > limit && (work > 0.8 * limit || ms > 4 * limit);

  let entry = 0;
  let entered = { at: 0, worked: 0 };
  let beat = -1;
  let beaten = { at: performance.now(), worked: worked() };
  let looked = performance.now();
  let nextLook = 0;
  setInterval(() => {
    const now = { at: performance.now(), worked: worked() };
    // This thread stood still as well: the machine slept, or the process was stopped.
    if (now.at - looked > 10 * tick) entered = beaten = now;
    looked = now.at;
    const current = Atomics.load(cells, 0);
    const entryIsOver = isOver(now.at - entered.at, now.worked - entered.worked, entryMs);
    if (current !== entry) [entry, entered] = [current, now];
    else if (entry > 0 && entryIsOver && Atomics.compareExchange(cells, 0, entry, -entry) === entry) interrupt();
    const moved = Atomics.load(cells, 1);
    if (moved !== beat) {
      [beat, beaten] = [moved, now];
      nextLook = 0;
      return;
    }
    const still = now.at - beaten.at;
    // What can be interrupted is, first; only what goes on after that has to end the process.
    if (still < nextLook || !isOver(still, now.worked - beaten.worked, stallMs) || (entry > 0 && !isOver(now.at - entered.at, now.worked - entered.worked, entryMs + 2 * stallMs))) return;
    nextLook = still + 1_000;
    look(Math.round(still));
  }, tick);

  /** Sends the signal that ends the entry, after a look at where it is; not for long. */
  function interrupt(): void {
    let isSent = false;
    const send = (): void => {
      clearTimeout(late);
      clearInterval(awaited);
      if (!isSent) process.kill(process.pid, 'SIGINT');
      isSent = true;
    };
    place.fill(0, 0, 2);
    const late = setTimeout(send, 5_000);
    const awaited = setInterval(() => {
      if (Atomics.load(cells, 3) === 1) send();
    }, tick);
    pause((found, _top, resume) => {
      const bytes = new TextEncoder().encode(found ? `${found.file}:${found.line}:${found.column}` : '');
      if (!isSent && bytes.length <= place.length - 2) {
        place.set(bytes, 2);
        place.set([bytes.length >> 8, bytes.length & 255]);
      }
      resume();
      // The debugger has to be gone: with it the signal would meet a process that is being debugged.
      setTimeout(send, 5);
    });
  }

  let isLooking = false;
  /** Looks at what the main thread is doing, and ends the process when it is a plugin's code. */
  function look(ms: number): void {
    if (isLooking) {
      // It cannot even be stopped: it waits for the system.
      if (ms > blamelessMs) giveUp(ms);
      return;
    }
    isLooking = true;
    pause((found, top, resume, debug) => {
      const goOn = (): void => {
        isLooking = false;
        resume();
      };
      if (found) return stop(debug, found.callFrameId, { ...found.folder, file: found.file, line: found.line, ms, at: Date.now() });
      if (top === undefined) return goOn();
      // No line of a plugin is on the stack: a native function of its may be, or code that it made.
      debug.post('Debugger.evaluateOnCallFrame', { callFrameId: top, expression: who, returnByValue: true, silent: true }, (_error, answer) => {
        const folder = folderIn(answer?.result.value);
        if (folder) stop(debug, top, { ...folder, file: folder.path, line: 0, ms, at: Date.now() });
        else if (ms > blamelessMs) stop(debug, top);
        else goOn();
      });
    });
    const stop = (debug: Debug, callFrameId: string, stall?: Stall): void => {
      if (stall) note(stall);
      say(`${isTerminal ? '\n' : ''}agent: ${shownAs(stall, ms)}\n${advice ? `  ${advice}\n` : ''}`);
      debug.post('Debugger.evaluateOnCallFrame', { callFrameId, expression: end, silent: true });
      // Whatever keeps that from working does not keep this from it.
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2_000);
    };
  }

  /** The last resort: nothing of the main thread runs any more, whatever is asked of it. */
  function giveUp(ms: number): void {
    const folder = Atomics.load(cells, 0) === 0 ? undefined : folders[Atomics.load(cells, 2) - 1];
    const stall = folder && { ...folder, file: folder.path, line: 0, ms, at: Date.now() };
    if (stall) note(stall);
    else leave(`fatal-${process.pid}.report`, { header: { event: `it did not respond for ${Math.round(ms / 1_000)} s, waiting for the system` } });
    say(`${isTerminal ? '\n' : ''}agent: ${shownAs(stall, ms)}\n${advice ? `  ${advice}\n` : ''}`);
    process.kill(process.pid, 'SIGKILL');
  }

  function shownAs(stall: Stall | undefined, ms: number): string {
    const seconds = Math.round(ms / 1_000);
    if (!stall) return `the agent did not respond for ${seconds} s`;
    return `plugin ${stall.id} blocked the agent for ${seconds} s at ${stall.file}${stall.line > 0 ? `:${stall.line}` : ''}, where nothing can interrupt it: it is off from now on`;
  }

  function folderIn(answer: unknown): WatchedFolder | undefined {
    return typeof answer === 'string' ? folders.find(({ path }) => path === answer) : undefined;
  }

  /** Stops the main thread; `told` hears of the innermost frame of a plugin, if there is one, and of the top one. */
  function pause(told: (found: Frame | undefined, top: string | undefined, resume: () => void, debug: Debug) => void): void {
    const debug = new inspector.Session();
    debug.connectToMainThread();
    // A frame itself does not tell its file.
    const files = new Map<string, string>();
    debug.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void files.set(scriptId, pathOf(url)));
    debug.on('Debugger.paused', ({ params: { callFrames } }) => {
      const resume = (): void => {
        debug.post('Debugger.resume');
        debug.disconnect();
      };
      for (const { location, callFrameId } of callFrames) {
        const file = files.get(location.scriptId) ?? '';
        const folder = folders.find(({ path }) => file === path || file.startsWith(path + sep));
        if (folder) return told({ folder, file, line: location.lineNumber + 1, column: (location.columnNumber ?? 0) + 1, callFrameId }, undefined, resume, debug);
      }
      told(undefined, callFrames[0]?.callFrameId, resume, debug);
    });
    debug.post('Debugger.enable');
    debug.post('Debugger.pause');
  }

  function note(stall: Stall): void {
    leave(`${process.pid}-${stall.at}.json`, stall);
  }

  function leave(name: string, record: object): void {
    try {
      fs.mkdirSync(records, { recursive: true, mode: 0o700 });
      fs.writeFileSync(`${records}/${name}`, JSON.stringify(record), { mode: 0o600, flush: true });
    } catch {
      // A full disk: the process has to end all the same, and the person is told now.
    }
  }

  function say(text: string): void {
    try {
      // eslint-disable-next-line no-control-regex -- a path may hold what steers a terminal
      fs.writeSync(2, text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, '?'));
    } catch {
      // Nobody reads.
    }
  }

  function pathOf(url: string): string {
    try {
      return url.startsWith('file:') ? fileURLToPath(url).replace(/\?.*$/, '') : url;
    } catch {
      return url;
    }
  }
}
