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
  const { cells, entryMs, stallMs, blamelessMs, records, advice, end } = workerData as WatchdogOrders;
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
    else if (entry > 0 && now - entered > entryMs && Atomics.compareExchange(cells, 0, entry, -entry) === entry) process.kill(process.pid, 'SIGINT');
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

  /** Looks at what the main thread is doing, and ends the process when it is a plugin's code. */
  function look(ms: number): void {
    const debug = new inspector.Session();
    debug.connectToMainThread();
    // A frame itself does not tell its file.
    const files = new Map<string, string>();
    debug.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void files.set(scriptId, pathOf(url)));
    debug.on('Debugger.paused', ({ params: { callFrames } }) => {
      for (const { location, callFrameId } of callFrames) {
        const file = files.get(location.scriptId) ?? '';
        const folder = folders.find(({ path }) => file === path || file.startsWith(path + sep));
        if (!folder) continue;
        stop(callFrameId, { ...folder, file, line: location.lineNumber + 1, ms, at: Date.now() });
        return;
      }
      const [top] = callFrames;
      if (top && ms > blamelessMs) return stop(top.callFrameId);
      debug.post('Debugger.resume');
      debug.disconnect();
    });
    const stop = (callFrameId: string, stall?: Stall): void => {
      if (stall) note(stall);
      const shown = stall ? `plugin ${stall.id} blocked the agent for ${Math.round(stall.ms / 1_000)} s at ${stall.file}:${stall.line}, where nothing can interrupt it: it is off from now on` : `the agent did not respond for ${Math.round(ms / 1_000)} s`;
      say(`agent: ${shown}\n${advice ? `  ${advice}\n` : ''}`);
      debug.post('Debugger.evaluateOnCallFrame', { callFrameId, expression: end, silent: true });
      // Whatever keeps that from working does not keep this from it.
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2_000);
    };
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
