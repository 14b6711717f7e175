/**
 * Every error the kernel raises: one code, one sentence for what is wrong, one for what to do next.
 * `{name}` is replaced by the detail of that name.
 */
const table = {
  ARGUMENT: ['{what}', '{hint}'],
  CAPABILITY: ['plugin {plugin} used p.{used} without the capability "{capability}"', 'add "{capability}" to its capabilities; the person is shown what a plugin asks for'],
  CONFIG_INVALID: ['{where}: {key}: {problem}', '{hint}'],
  CONFIG_SYNTAX: ['{file}:{line}:{column}: not valid YAML: {problem}', 'correct that line'],
  CONFIG_UNREADABLE: ['{file}: cannot be read: {problem}', 'check the file and its permissions'],
  CONTRACT: ['{what}', '{hint}'],
  CRASH: ['the agent died while it ran ({how})', 'look for what exhausts the memory'],
  CYCLE: ['the order of {what} is a cycle: {cycle}', 'remove one before/after of these plugins'],
  DUPLICATE_ID: ['the id "{id}" is already taken by the plugin at {other}', 'give one of the two another id'],
  ENGINE: ['needs newt-agent {range}, this is {version}', 'install a version of the plugin made for {version}, or update newt-agent'],
  ESCAPES: ['{file}:{line} imports {specifier}, which leaves {root}', 'move that file into {root}: only what lies there is covered by trust'],
  EXIT: ['called {call}', 'let the plugin throw instead'],
  GATE_CAPABILITY: ['plugin {plugin} taps the gate {hook} without the capability "gate:{hook}"', 'declare it in the package.json of the plugin; a bare file cannot guard'],
  HANG: ['did not come back within {seconds} s, and was interrupted', 'look for an endless loop, or a regular expression that backtracks'],
  ID: ['"{id}" is not a plugin id', 'use lower-case letters, digits and dashes, at most 32, a letter first'],
  LOAD_TIMEOUT: ['{place} did not finish loading: still pending {ms} ms after the last other plugin', 'look for a top-level await or an async setup that never settles'],
  MANIFEST: ['{file}: {key}: {problem}', 'correct that key'],
  MISSING_PACKAGE: ['{file}:{line} imports "{specifier}", which is not installed', 'run npm install in {folder}'],
  MISSING_FILE: ['{file}:{line} imports "{specifier}", which does not exist', 'correct the path, or put the file there'],
  NO_DEFAULT: ['{file} has no default export made with definePlugin()', 'end the file with: export default definePlugin({ id: \'…\' }, (p) => ({ … }))'],
  NOT_JSON: ['{path} is {found}, not a JSON value', 'pass plain objects, arrays, strings, finite numbers, booleans or null'],
  NO_SERVICE: ['the service {service} is not provided', 'enable a plugin that provides it'],
  OUTSIDE: ['imports {specifier}, which leaves {root}', 'move that file into {root}: only what lies there is covered by trust'],
  PROCESS: ['called {call}', 'the process belongs to the agent: use p.exec with a cwd, or paths that do not depend on one'],
  PROTOTYPE: ['added {what}, which everybody inherits', 'keep helpers in functions of their own; the addition was hidden from for…in'],
  REQUIRES: ['needs {what}', '{hint}'],
  SECOND_WRITER: ['{file} is being written by process {pid}', 'wait for it to end, or start a new one'],
  STALL: ['blocked the agent for {seconds} s at {place}, where nothing could interrupt it', 'look for an endless loop after an await, in a timer or in a getter, or for a call that waits (execSync)'],
  TIMEOUT: ['did not settle within {ms} ms', ''],
  TRANSITION: ['plugin {plugin} cannot go from {from} to {to}', 'this is a fault of the kernel: please report it'],
  UNKNOWN_HOOK: ['there is no hook "{hook}"{near}', 'for all of them: agent plugin why {hook}'],
  UNKNOWN_PLUGIN: ['there is no plugin "{id}"{near}', 'agent plugin list shows all'],
  UNKNOWN_POINT: ['there is no contribution point "{point}"{near}', 'there are: hooks, {known}'],
  UNWRITABLE: ['{path}: cannot be written: {problem}', 'check its folder, the permissions and the disk space; AGENT_HOME moves what is yours'],
} as const satisfies Record<string, readonly [problem: string, hint: string]>;

export type ErrorCode = keyof typeof table;
export type ErrorDetails = Readonly<Record<string, string | number | undefined>>;

const brand = Symbol.for('newt.kernel-error');

/** An error of the table: `message` says what is wrong, `hint` what to do next. */
export class KernelError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(fill(table[code][0], details), options);
    this.name = 'KernelError';
    this.code = code;
    this.hint = fill(table[code][1], details);
    this.details = details;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Recognises a {@link KernelError} across module copies, which `instanceof` would not. */
export function isKernelError(error: unknown): error is KernelError {
  return isMarked(error, brand);
}

/** Whether `value` carries `mark`; never throws, though whatever was thrown may be a Proxy that does. */
export function isMarked(value: unknown, mark: symbol): boolean {
  try {
    return typeof value === 'object' && value !== null && mark in value;
  } catch {
    return false;
  }
}

function fill(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? ''));
}
