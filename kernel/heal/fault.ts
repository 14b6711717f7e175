/** Faults: what went wrong in a plugin, told so that a person, a record and a healer can each use it. */
import { createHash } from 'node:crypto';
import { isKernelError, isMarked } from '../errors.ts';
import type { Tier } from '../tier.ts';

/**
 * - `load`, `setup`: the plugin never came up
 * - `threw`, `rejected`: a handler failed
 * - `timeout`: a handler did not settle in time
 * - `hang`: it did not come back, and was interrupted, or the process had to be ended for it
 * - `crash`: the process died of it; `killed`: the process died while it ran, perhaps of something else
 * - `contract`: it answered with the wrong type, or registered something malformed
 * - `stray`: an error from a timer, listener, microtask or floating promise
 * - `exit`: it tried to end the process
 * - `flood`: it wrote more to its log than is kept
 * - `dispose`: it did not let go in time, or failed while it did
 */
export type FaultKind = 'load' | 'setup' | 'threw' | 'rejected' | 'timeout' | 'hang' | 'crash' | 'killed' | 'contract' | 'stray' | 'exit' | 'flood' | 'dispose';

export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Fault {
  readonly kind: FaultKind;
  /** Id of the plugin at fault; `undefined` when nothing could be blamed. */
  readonly plugin: string | undefined;
  readonly tier: Tier | undefined;
  /** The slot: `hook page.transform`, `formats/html.render`, `setup`, `load`, … */
  readonly where: string;
  /** One line, at most 300 characters, without control characters. It is text of a plugin: data, never an instruction. */
  readonly message: string;
  readonly place: SourcePlace | undefined;
  /** Equal for the same failure in the same place, whatever the run. */
  readonly fingerprint: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What the kernel did about it. */
  readonly action: string;
  /** What the person can do next. */
  readonly next: string;
}

/** Thrown to a caller of a contribution whose spec has no policy value. */
export class FaultError extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(faultCause(fault));
    this.name = 'FaultError';
    this.fault = fault;
  }
}

const operational = Symbol.for('newt.operational');

/**
 * A failure of the world, not of the plugin: a command that fails, a host that cannot be reached,
 * `call.fail()`. It is an observation for the caller and never counts against the plugin.
 */
export class OperationalError extends Error {
  readonly details: Readonly<Record<string, unknown>>;
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperationalError';
    this.details = details;
    Object.defineProperty(this, operational, { value: true });
  }
}

export function isOperational(error: unknown): error is OperationalError {
  return isMarked(error, operational);
}

const maxMessage = 300;

/** One printable line out of whatever was thrown; never throws itself, whatever getters the value has. */
export function describeError(error: unknown): string {
  return oneLine(rawMessage(error));
}

/** Strips control characters and folds white space, so that a plugin's text cannot steer a terminal. */
export function oneLine(text: string, limit = maxMessage): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is being removed
  const clean = text.slice(0, limit * 4).replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return clean.length > limit ? `${clean.slice(0, limit - 1)}…` : clean;
}

function rawMessage(error: unknown): string {
  try {
    if (isKernelError(error)) return error.message;
    if (error instanceof Error || (typeof error === 'object' && error !== null && 'message' in error)) {
      const { name, message } = error as { name?: unknown; message?: unknown };
      const text = typeof message === 'string' ? message : String(message);
      return typeof name === 'string' && name && name !== 'Error' ? `${name}: ${text}` : text || String(error);
    }
    return `threw ${typeof error === 'object' ? (JSON.stringify(error) ?? 'an object') : String(error)}`;
  } catch {
    return 'threw a value that cannot be printed';
  }
}

/** The message without the absolute position at its end, which is shown apart. */
export function withoutPosition(message: string): string {
  return message.replace(/^ParseError: /, '').replace(/\s*\(?(?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^\s:]+:\d+(?::\d+)?\)?$/, '');
}

/** The stack as text, or an empty string. */
export function stackOf(error: unknown): string {
  try {
    const stack: unknown = typeof error === 'object' && error !== null && 'stack' in error ? error.stack : undefined;
    return typeof stack === 'string' ? stack.slice(0, 20_000) : '';
  } catch {
    return '';
  }
}

/** Hash of what makes two faults the same: numbers, quoted names, paths and long hexadecimal words are ignored. */
export function fingerprint(plugin: string | undefined, where: string, kind: FaultKind, message: string, place: SourcePlace | undefined): string {
  const shape = message
    .replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "''")
    .replace(/(?:[A-Za-z]:)?[\\/][^\s:;,)]+|\b[0-9a-f]{8,}\b/gi, '/')
    .replace(/\d+/g, '0')
    .slice(0, 120);
  const text = [plugin ?? '?', where, kind, shape, place ? `${place.file}:${place.line}` : ''].join('\0');
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** `hook page.transform: threw TypeError: … (src/index.ts:12)`: the cause alone, for whoever called and for tables. */
export function faultCause(fault: Pick<Fault, 'where' | 'message' | 'place'>): string {
  return `${whereShown(fault.where)}${fault.message}${fault.place ? ` (${fault.place.file}:${fault.place.line})` : ''}`;
}

/** The one line a person sees: who, why, what was done, what next. */
export function faultLine(fault: Fault): string {
  const plugin = `plugin ${fault.plugin ?? '(unattributed)'}`;
  return fault.action === pluginIsOff ? `${plugin} is off: ${sentence(faultCause(fault))} ${fault.next}` : `${plugin}: ${faultCause(fault)} — ${fault.action}. ${fault.next}`;
}

/** `text` with an end mark. */
function sentence(text: string): string {
  return /[?!.]$/.test(text) ? text : `${text}.`;
}

/** The action of a fault that took the whole plugin down. */
export const pluginIsOff = 'the plugin is off';

/** Loading needs no mention, and the usual member of an item neither. */
function whereShown(where: string): string {
  return where === 'load' ? '' : `${where.replace(/\.run$/, '')}: `;
}
