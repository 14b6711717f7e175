/**
 * The watchdog's thread. It is handed over as source text, so that it runs the same from a bundle and from a
 * checkout: nothing in {@link watch} may refer to anything outside of it.
 *
 * Shared memory: the entry being run (0: none, negative: claimed by the watchdog), and a count that the event
 * loop's heart-beat moves.
 */
export const entryCell = 0;
export const beatCell = 1;

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
  /** Whether it is told on a terminal, where a prompt may stand in the line. */
  readonly isTerminal: boolean;
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
  const { cells, place, entryMs, stallMs, blamelessMs, records, advice, isTerminal, end } = workerData as WatchdogOrders;
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

  let entry = 0;
  let entered = 0;
  let beat = -1;
  let beaten = performance.now();
  let looked = performance.now();
  let nextLook = stallMs;
  setInterval(() => {
    const now = performance.now();
    // This thread stood still as well: the machine slept, or the process was stopped.
    if (now - looked > 10 * tick) entered = beaten = now;
    looked = now;
    const current = Atomics.load(cells, 0);
    if (current !== entry) [entry, entered] = [current, now];
    else if (entry > 0 && now - entered > entryMs && Atomics.compareExchange(cells, 0, entry, -entry) === entry) interrupt();
    const moved = Atomics.load(cells, 1);
    if (moved !== beat) {
      [beat, beaten] = [moved, now];
      nextLook = stallMs;
      return;
    }
    const still = now - beaten;
    // What can be interrupted is, first; only what goes on after that has to end the process.
    if (still < nextLook || (entry > 0 && now - entered <= entryMs + 2 * stallMs)) return;
    nextLook = still + 1_000;
    look(Math.round(still));
  }, tick);

  /** Sends the signal that ends the entry, after a look at where it is; not for long. */
  function interrupt(): void {
    let isSent = false;
    const send = (): void => {
      if (!isSent) process.kill(process.pid, 'SIGINT');
      isSent = true;
    };
    place.fill(0, 0, 2);
    setTimeout(send, 1_500);
    pause((found, _top, resume) => {
      const bytes = new TextEncoder().encode(found ? `${found.file}:${found.line}:${found.column}` : '');
      if (!isSent && bytes.length <= place.length - 2) {
        place.set(bytes, 2);
        place.set([bytes.length >> 8, bytes.length & 255]);
      }
      resume();
      // The session has to be gone: with it the signal would meet a process that is being debugged.
      setTimeout(send, 5);
    });
  }

  /** Looks at what the main thread is doing, and ends the process when it is a plugin's code. */
  function look(ms: number): void {
    pause((found, top, resume, debug) => {
      if (found) stop(debug, found.callFrameId, { ...found.folder, file: found.file, line: found.line, ms, at: Date.now() });
      else if (top !== undefined && ms > blamelessMs) stop(debug, top);
      else resume();
    });
    const stop = (debug: Debug, callFrameId: string, stall?: Stall): void => {
      if (stall) note(stall);
      const shown = stall ? `plugin ${stall.id} blocked the agent for ${Math.round(stall.ms / 1_000)} s at ${stall.file}:${stall.line}, where nothing can interrupt it: it is off from now on` : `the agent did not respond for ${Math.round(ms / 1_000)} s`;
      say(`${isTerminal ? '\n' : ''}agent: ${shown}\n${advice ? `  ${advice}\n` : ''}`);
      debug.post('Debugger.evaluateOnCallFrame', { callFrameId, expression: end, silent: true });
      // Whatever keeps that from working does not keep this from it.
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2_000);
    };
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
    try {
      fs.mkdirSync(records, { recursive: true, mode: 0o700 });
      fs.writeFileSync(`${records}/${process.pid}-${stall.at}.json`, JSON.stringify(stall), { mode: 0o600, flush: true });
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
