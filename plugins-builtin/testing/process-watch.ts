/** What a plugin under test does to the process: errors nobody catches, and attempts to end it. */
import { syncBuiltinESMExports } from 'node:module';
import { KernelError } from '../public.ts';

export interface ProcessWatch {
  /** What came up since it was last asked. */
  take(): readonly unknown[];
  /** Gives the process back to whoever listened before. */
  dispose(): void;
}

const events = ['uncaughtException', 'unhandledRejection'] as const;
type Listener = (...args: unknown[]) => void;

/** From here on such errors are the plugin's: a test runner does not hear of them. */
export function watchProcess(): ProcessWatch {
  let seen: unknown[] = [];
  const note = (error: unknown): void => void seen.push(error);
  const before = events.map((event) => process.rawListeners(event) as Listener[]);
  const { exit } = process;
  for (const event of events) {
    process.removeAllListeners(event);
    process.on(event, note);
  }
  process.exit = (code) => {
    const error = new KernelError('EXIT', { call: `process.exit(${String(code ?? '')})` });
    note(error); // also where the plugin swallows it
    throw error;
  };
  syncBuiltinESMExports();
  return {
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    dispose() {
      process.exit = exit;
      syncBuiltinESMExports();
      for (const [at, event] of events.entries()) {
        process.off(event, note);
        for (const listener of before[at] ?? []) process.on(event, listener as never);
      }
    },
  };
}
