/** What plugins print: it goes to their logs, whichever way they print it. */
import fs from 'node:fs';
import { format } from 'node:util';
import type { PluginRecord } from '../lifecycle.ts';
import type { LogLevel } from '../log.ts';
import type { Provenance } from './provenance.ts';
import { type Callback, foreign, type Owner, patch } from './contain-patch.ts';

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
 * What a plugin writes to standard output or standard error by itself goes to its log as well: it would steer the
 * terminal, or be taken for the answer. Only the very caller counts: the agent shows things while a plugin is running, too.
 */
export function redirectOutput(provenance: Provenance): (() => void)[] {
  const callerOf = (fn: Callback): PluginRecord | undefined => {
    const owner = provenance.callerOf(fn) as PluginRecord | undefined;
    return foreign(owner) ? owner : undefined;
  };
  return [...keepStream(process.stdout, 'info', callerOf), ...keepStream(process.stderr, 'error', callerOf), ...keepDescriptors(callerOf)];
}

type CallerOf = (fn: Callback) => PluginRecord | undefined;

function keepStream(stream: NodeJS.WriteStream, level: LogLevel, callerOf: CallerOf): (() => void)[] {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  const replacement = (...args: unknown[]): boolean => {
    const owner = callerOf(replacement);
    if (!owner) return write(...args);
    owner.log[level](textOf(args[0]));
    const done = args.at(-1);
    if (typeof done === 'function') process.nextTick(done as () => void);
    return true;
  };
  // Closed, held back, or said to have failed, it would leave the person without an answer.
  const keepOpen = (method: 'end' | 'destroy' | 'cork' | 'emit') => {
    const original = stream[method].bind(stream) as Callback;
    const guarded: Callback = (...args) => (callerOf(guarded) ? stream : original(...args));
    return patch(stream, method, guarded as never);
  };
  return [patch(stream, 'write', replacement as typeof stream.write), keepOpen('end'), keepOpen('destroy'), keepOpen('cork'), keepOpen('emit')];
}

/** The same by number. Closed, the number would be given to the next file, which then gets what is meant for the person. */
function keepDescriptors(callerOf: CallerOf): (() => void)[] {
  return (['close', 'closeSync', 'write', 'writeSync'] as const).map((method) => {
    const original = fs[method] as Callback;
    const guarded: Callback = (...args) => {
      const owner = [1, 2].includes(args[0] as number) ? callerOf(guarded) : undefined;
      if (!owner) return original(...args);
      const text = method.startsWith('write') ? textOf(args[1]) : undefined;
      if (text !== undefined) owner.log.info(text);
      const done = args.at(-1);
      if (typeof done === 'function') process.nextTick(done as Callback, null, text?.length);
      return text?.length;
    };
    return patch(fs, method, Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original)) as never);
  });
}

function textOf(chunk: unknown): string {
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : String(chunk);
}
