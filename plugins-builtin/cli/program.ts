/** The command line: commander, fed from the `commands` contribution point. */
import { Command as Program, CommanderError } from 'commander';
import { type Argument, type Command, displayWidth, type Guarded, type Invocation, type Option, type Style, wrap } from 'newt-agent';

type Run = NonNullable<Guarded<Command>['run']>;

/** A row of the command table; `run` is missing for a group. */
export type CommandEntry = Omit<Command, 'run'> & { readonly run?: Run };

interface ProgramHost {
  readonly version: string;
  readonly columns: number;
  readonly style: Style;
  /** Help, and the version. */
  print(text: string): void;
  /** Runs a command and answers its exit code. */
  run(run: Run, invocation: Invocation): Promise<number>;
}

/** A command line that makes no sense. `command` is the part that does. */
export class UsageError extends Error {
  readonly command: string;
  constructor(message: string, command: string) {
    super(message);
    this.name = 'UsageError';
    this.command = command;
  }
}

const name = 'agent';
const description = 'A coding agent made of plugins, none of which can take it down.';
const maxExamples = 5;
/** The workspace counts for every command: whose configuration, whose plugins, whose trust. */
const workspace: Option = { flags: '--cwd <folder>', description: 'Folder whose project counts', values: 'folders' };
/** Commands that make a workspace of their own. */
const placeless: ReadonlySet<string> = new Set(['tour']);
const groupUsage = '<command> [options]';

/**
 * Runs the command that `argv` names, and answers its exit code; 0 after help was shown.
 * @throws UsageError
 */
export async function runCommandLine(argv: readonly string[], commands: ReadonlyMap<string, CommandEntry>, host: ProgramHost): Promise<number> {
  let code = 0;
  const program = buildProgram(commands, host, (exitCode) => (code = exitCode));
  try {
    await program.parseAsync(understood(argv, commands), { from: 'user' });
  } catch (error) {
    // Help of a group without a command is an error to commander, and an answer to us.
    const isAnswer = error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help');
    if (!isAnswer) throw error;
  }
  return code;
}

/**
 * The line as commander is to see it. Asked for the help of what does not exist, it would show the help of
 * everything: left with the unknown word alone, it says what is wrong.
 */
function understood(argv: readonly string[], commands: ReadonlyMap<string, CommandEntry>): string[] {
  const wantsHelp = argv.length === 0 || argv[0] === 'help';
  const words = argv[0] === 'help' ? argv.slice(1) : argv;
  const path = (length: number): string => words.slice(0, length).join(' ');
  const isKnown = (length: number): boolean => [...commands.keys()].some((known) => known === path(length) || known.startsWith(`${path(length)} `));
  let length = 0;
  while (length < words.length && isKnown(length + 1)) length += 1;
  const isUnknown = length < words.length && !words[length]?.startsWith('-') && !commands.get(path(length))?.run;
  return isUnknown ? words.slice(0, length + 1) : wantsHelp ? [...words, '--help'] : [...words];
}

function buildProgram(commands: ReadonlyMap<string, CommandEntry>, host: ProgramHost, onExit: (code: number) => void): Program {
  const root = new Program(name);
  configure(root, name, host);
  root
    // A command gets its words as they stand, with what is behind `--` untouched.
    .enablePositionalOptions()
    .description(description)
    .usage(groupUsage)
    .version(host.version, '-V, --version', 'Show the version')
    // What it does happens before there is a kernel, and takes it off the line: see start.ts beside the composition root.
    .option('--safe-mode', 'Run with built-in plugins only')
    .helpCommand('help [command]', 'Show help for a command')
    .addHelpText('after', examplesText(rootExamples(commands), host));
  const built = new Map([['', root]]);
  // A group comes before what is in it, whatever plugin either is from.
  for (const [path, entry] of [...commands].sort(([a], [b]) => wordsOf(a).length - wordsOf(b).length)) {
    const words = wordsOf(path);
    const parent = groupOf(words.slice(0, -1), built, host);
    addCommand(parent, path, entry, host, onExit, built);
  }
  return root;
}

function addCommand(parent: Program, path: string, entry: CommandEntry, host: ProgramHost, onExit: (code: number) => void, built: Map<string, Program>): void {
  const command = parent.command(wordsOf(path).at(-1) ?? path);
  // A group must not read the options of what is in it.
  command.enablePositionalOptions();
  configure(command, `${name} ${path}`, host);
  command.description(entry.description).helpCommand(false).addHelpText('after', examplesText(entry.examples ?? [], host));
  for (const argument of entry.arguments ?? []) command.argument(notation(argument), argument.description);
  for (const option of optionsOf(path, entry)) command.option(option.flags, option.description);
  built.set(path, command);
  const { run } = entry;
  if (!run) return void command.usage(groupUsage);
  command.action(async () => {
    const values = (entry.arguments ?? []).map((argument, index) => [argument.name, command.processedArgs[index] as string | string[] | undefined]);
    onExit(await host.run(run, { arguments: Object.fromEntries(values), options: command.opts<Invocation['options']>() }));
  });
}

/** The command that groups others; made where no plugin describes it. */
function groupOf(words: readonly string[], built: Map<string, Program>, host: ProgramHost): Program {
  const path = words.join(' ');
  const known = built.get(path);
  if (known) return known;
  const group = groupOf(words.slice(0, -1), built, host).command(words.at(-1) ?? path);
  group.enablePositionalOptions();
  configure(group, `${name} ${path}`, host);
  group.usage(groupUsage).helpCommand(false);
  built.set(path, group);
  return group;
}

function configure(command: Program, path: string, { columns, style, print }: ProgramHost): void {
  command
    .helpOption('-h, --help', 'Show help')
    .configureHelp({
      helpWidth: columns,
      displayWidth,
      subcommandTerm: (sub) => [sub.name(), ...sub.registeredArguments.map((argument) => notation({ name: argument.name(), required: argument.required, variadic: argument.variadic }))].join(' '),
      styleTitle: style.bold,
    })
    .configureOutput({
      writeOut: (text) => print(text.trimEnd()),
      writeErr: (text) => print(text.trimEnd()),
      // Said by whoever catches the error.
      outputError: () => undefined,
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    })
    .exitOverride((error) => {
      if (error.exitCode === 0 || error.code === 'commander.help') throw error;
      throw new UsageError(error.message.replace(/^error: /, '').replace('\n(D', ' (d'), path);
    });
}

function notation({ name, required, variadic }: Pick<Argument, 'name' | 'required' | 'variadic'>): string {
  const shown = variadic ? `${name}...` : name;
  return required ? `<${shown}>` : `[${shown}]`;
}

/** The options of a command, with those that all have. */
export function optionsOf(path: string, { options = [], run }: CommandEntry): readonly Option[] {
  const has = options.some(({ flags }) => /(?:^|[ ,])--cwd\b/.test(flags));
  return has || !run || placeless.has(path) ? options : [...options, workspace];
}

function examplesText(examples: readonly string[], { columns, style }: ProgramHost): string {
  const lines = examples.flatMap((example) => wrap(`  $ ${example}`, columns));
  return lines.length ? `\n${style.bold('Examples:')}\n${lines.join('\n')}` : '';
}

/** What the commands of the first level have to offer, one each. */
function rootExamples(commands: ReadonlyMap<string, CommandEntry>): string[] {
  return [...commands].flatMap(([path, entry]) => (wordsOf(path).length === 1 ? (entry.examples?.slice(0, 1) ?? []) : [])).slice(0, maxExamples);
}

function wordsOf(path: string): string[] {
  return path.split(' ');
}
