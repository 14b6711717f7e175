/** The terminal channel: from the words of a command line to the exit code of the process. */
import { type Command, type Item, kernelControl, type PluginContext } from 'newt-agent';
import { exitCodes, sayError } from './failure.ts';
import { type CommandEntry, runCommandLine, UsageError } from './program.ts';
import type { Terminal } from './terminal.ts';

/** Runs the command line `argv` and answers the exit code. Whatever a command does, it ends in one. */
export async function serve(p: PluginContext, argv: readonly string[], terminal: Terminal): Promise<number> {
  let isWritten = true;
  const code = await runLine(p, argv, terminal).finally(async () => (isWritten = await terminal.flush()));
  return code === 0 && !isWritten ? exitCodes.failed : code;
}

/** Plugins that are named where a command is missing. */
const maxOff = 5;

async function runLine(p: PluginContext, argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await runCommandLine(argv, await commandTable(p, argv), {
      version: p.use(kernelControl).plugins().find((plugin) => plugin.id === p.id)?.version ?? '',
      columns: terminal.columns,
      style: terminal.style,
      print: (text) => terminal.print(text),
      run: (run, invocation) => run(invocation, { io: terminal }),
    });
  } catch (error) {
    if (!(error instanceof UsageError)) return sayError(terminal, error);
    terminal.say(`${terminal.remarkStyle.red('agent:')} ${error.message}`);
    const off = error.message.startsWith('unknown command') ? p.use(kernelControl).plugins().filter(({ state, tier }) => state === 'quarantined' && tier !== 'builtin') : [];
    if (off.length > 0) terminal.say(terminal.remarkStyle.dim(`  it may be of a plugin that is off: ${off.slice(0, maxOff).map(({ id }) => id).join(', ')}; agent plugin faults ${off[0]?.id} shows why`));
    terminal.say(terminal.remarkStyle.dim(`  try: ${error.command} --help`));
    return exitCodes.usage;
  }
}

/** The commands there are; only what `argv` needs is started. */
async function commandTable(p: PluginContext, argv: readonly string[]): Promise<ReadonlyMap<string, CommandEntry>> {
  const word = argv.find((argument) => !argument.startsWith('-'));
  if (word) await p.activate(`command:${word}`);
  const known = entries(p.items('commands'));
  if (word && [...known.keys()].some((path) => path === word || path.startsWith(`${word} `))) return known;
  await p.activate('commands');
  return entries(p.items('commands'));
}

function entries(items: ReadonlyMap<string, Item<Command>>): ReadonlyMap<string, CommandEntry> {
  return new Map([...items].map(([path, { item }]) => [path, item]));
}
