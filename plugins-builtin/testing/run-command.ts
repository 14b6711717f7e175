/** A command of a plugin, from its words to its exit code, as the terminal would run it. */
import { sayError } from '../cli/failure.ts';
import { type CommandEntry, runCommandLine, UsageError } from '../cli/program.ts';
import type { Command, CommandIO, Item, Style } from '../public.ts';

export interface CommandOptions {
  /** What the person answers to every question; undefined where nobody can be asked, which is the default. */
  readonly confirm?: boolean;
  /** All of standard input. */
  readonly input?: string;
  /** Whether a person at a terminal reads the output; default false. */
  readonly interactive?: boolean;
  readonly columns?: number;
  readonly signal?: AbortSignal;
}

export interface CommandResult {
  readonly code: number;
  /** Standard output, with a newline at the end of each line but the last. */
  readonly out: string;
  /** Remarks, progress and errors. */
  readonly err: string;
  readonly questions: readonly string[];
}

/** @throws Error what the command threw that is neither news nor a fault */
export async function runCommand(items: ReadonlyMap<string, Item<Command>>, argv: readonly string[], version: string, options: CommandOptions = {}): Promise<CommandResult> {
  const out: string[] = [];
  const err: string[] = [];
  const questions: string[] = [];
  const io = capturingIO(options, { out, err, questions });
  const entries = new Map<string, CommandEntry>([...items].map(([path, { item }]) => [path, item]));
  const act = async (): Promise<number> => {
    try {
      return await runCommandLine(argv, entries, {
        version,
        columns: io.columns,
        style: io.style,
        print: (text) => io.print(text),
        run: (run, invocation) => run(invocation, { io, ...(options.signal && { signal: options.signal }) }),
      });
    } catch (error) {
      if (!(error instanceof UsageError)) return sayError(io, error);
      io.say(`agent: ${error.message}`);
      io.say(`  try: ${error.command} --help`);
      return 2;
    }
  };
  const code = await act();
  return { code, out: out.join('\n'), err: err.join('\n'), questions };
}

const same = (text: string): string => text;
const plain: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

export function capturingIO({ confirm, input, interactive = false, columns = 80 }: CommandOptions, { out, err, questions }: { readonly out: string[]; readonly err: string[]; readonly questions: string[] }): CommandIO {
  return {
    interactive,
    columns,
    style: plain,
    print: (text) => void out.push(text),
    json: (value) => void out.push(JSON.stringify(value)),
    say: (text) => void err.push(text),
    async confirm(question) {
      questions.push(question);
      return confirm;
    },
    input: async () => input,
  };
}
