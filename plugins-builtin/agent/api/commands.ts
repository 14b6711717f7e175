/** Commands and channels: how people reach the agent. */
import { type Call, definePoint } from '../../../kernel/index.ts';

/** What a command writes to and reads from, whatever the channel. */
export interface CommandIO {
  /** True when a person at a terminal reads the output: colour and progress make sense. */
  readonly interactive: boolean;
  /** The result, to standard output. A newline is added. */
  print(text: string): void;
  /** Machine-readable result, as one line of JSON. */
  json(value: unknown): void;
  /** Remarks, progress and errors, to standard error. A newline is added. */
  say(text: string): void;
  /** Terminal columns; 80 where unknown. */
  readonly columns: number;
  readonly style: Style;
  /** Asks a yes-or-no question on the terminal; `undefined` when nobody can be asked. */
  confirm(question: string, signal?: AbortSignal): Promise<boolean | undefined>;
  /** One line that the next replaces, where a person watches; undefined takes it away. Before anything else is printed it must be. */
  progress?(text: string | undefined): void;
  /** All of standard input when it is a pipe or file; undefined on a terminal. */
  input(): Promise<string | undefined>;
}

/** Text styles; identity functions where colour is off. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export interface Argument {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  readonly values?: Values;
}

/** What a shell completes: one of these words, or what the agent (`plugins`, `config-keys`, `hooks`) or the shell knows. */
export type Values = readonly string[] | 'plugins' | 'config-keys' | 'hooks' | 'files' | 'folders';

export interface Option {
  /** commander's notation: `-m, --model <provider/model>` */
  readonly flags: string;
  readonly description: string;
  readonly values?: Values;
}

export interface CommandCall extends Call {
  readonly io: CommandIO;
}

export interface Invocation {
  readonly arguments: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** By the long name of the option in camelCase. */
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

/** The item name is the command's words joined by one blank: `plugin list`. A group has no `run`. */
export interface Command {
  readonly description: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  /** Full command lines, shown by `--help`. */
  readonly examples?: readonly string[];
  /** Answers the exit code: 0 done, 1 failed, 2 usage or configuration, 3 budget, 130 cancelled. */
  run?(invocation: Invocation, call: CommandCall): number | Promise<number>;
}

/** A command whose `run` is typed. */
export function command(definition: Command): Command {
  return definition;
}

/** A way in: a terminal, a socket, a protocol. `run` serves until it is done and answers the exit code. */
export interface Channel {
  readonly description: string;
  run(start: ChannelStart, call: Call): Promise<number>;
}

export interface ChannelStart {
  readonly argv: readonly string[];
}

declare module '../../../kernel/index.ts' {
  interface ContributionMap {
    commands: Command;
    channels: Channel;
  }
}

export const commandsPoint = definePoint('commands', {
  itemName: /^[a-z][a-z0-9-]*( [a-z][a-z0-9-]*)*$/,
  check: (item) => (typeof item.description === 'string' && item.description ? undefined : 'needs a description'),
  members: { run: { kind: 'service', optional: true, check: (value) => typeof value === 'number' } },
});

export const channelsPoint = definePoint('channels', {
  check: (item) => (typeof item.description === 'string' ? undefined : 'needs a description'),
  members: { run: { kind: 'service', check: (value) => typeof value === 'number' } },
});
