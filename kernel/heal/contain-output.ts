/** What plugins print: it goes to their logs, whichever way they print it. */
import { format } from 'node:util';
import type { PluginRecord } from '../lifecycle.ts';
import type { LogLevel } from '../log.ts';
import type { Provenance } from './provenance.ts';
import { foreign, type Owner, patch } from './contain-patch.ts';

const consoleLevels = { debug: 'debug', dir: 'info', dirxml: 'info', error: 'error', info: 'info', log: 'info', table: 'info', trace: 'debug', warn: 'warn' } as const satisfies Partial<Record<keyof Console, LogLevel>>;

/** Standard output belongs to the agent: a plugin's console goes to its log, and everybody else's to standard error. */
export function redirectConsole(ownerOf: Owner): (() => void)[] {
  return (Object.entries(consoleLevels) as [keyof typeof consoleLevels, LogLevel][]).map(([method, level]) =>
    patch(console, method, (...args: unknown[]) => {
      const owner = ownerOf();
      if (owner) owner.log[level](format(...args));
      else process.stderr.write(`${format(...args)}\n`);
    }),
  );
}

/**
 * What a plugin writes to standard output by itself goes to its log as well. Only the very caller counts: the
 * agent shows things while a plugin is running, too.
 */
export function redirectOutput(provenance: Provenance): (() => void)[] {
  const { stdout } = process;
  const write = stdout.write.bind(stdout) as (...args: unknown[]) => boolean;
  const replacement = (...args: unknown[]): boolean => {
    const owner = provenance.callerOf(replacement) as PluginRecord | undefined;
    if (!foreign(owner)) return write(...args);
    const [chunk] = args;
    owner.log.info(chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : String(chunk));
    const done = args.at(-1);
    if (typeof done === 'function') process.nextTick(done as () => void);
    return true;
  };
  // Ending or destroying it would leave the person without an answer.
  const keepOpen = (method: 'end' | 'destroy') => {
    const original = stdout[method].bind(stdout) as (...args: unknown[]) => typeof stdout;
    const guarded = (...args: unknown[]) => (foreign(provenance.callerOf(guarded) as PluginRecord | undefined) ? stdout : original(...args));
    return patch(stdout, method, guarded as never);
  };
  return [patch(stdout, 'write', replacement as typeof stdout.write), keepOpen('end'), keepOpen('destroy')];
}
