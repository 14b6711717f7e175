/** The standard streams as commands see them. */
import { type CommandIO, type Style, truncate, wrap } from 'newt-agent';
import { confirm } from './confirm.ts';
import { type OutputStream, outputTo } from './output.ts';
import { type InputStream, patienceWith, readAll } from './standard-input.ts';
import { type Environment, styleFor } from './style.ts';

/** What the terminal can do beyond other channels. */
export interface Terminal extends CommandIO {
  /** A piece of text to standard output, as it is. */
  write(text: string): void;
  /** Rows below what was written, in place of those drawn before. For where {@link movesCursor}. */
  draw(rows: readonly string[]): void;
  readonly stdin: InputStream;
  /** Style of what goes to standard error, which may be redirected where standard output is not. */
  readonly remarkStyle: Style;
  /** Style of a question, which is always seen on a terminal. */
  readonly questionStyle: Style;
  /** Whether the cursor can be moved on standard output. */
  readonly movesCursor: boolean;
  /** @param given when the command can do without: a pipe that says nothing is then not waited for */
  input(given?: boolean): Promise<string | undefined>;
  /** Settles when all output is handed over; false when some of standard output was lost. */
  flush(): Promise<boolean>;
}

export interface StandardStreams {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Environment;
}

/** Where a remark goes on that is too long for a line. */
const hanging = 2;
/** How long a command that needs standard input waits for its first byte, in milliseconds. */
const longPatience = 60_000;

/** One line of JSON that steers no terminal: what JSON may hold and a terminal may obey, or hide, is written as its code. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f]|\p{Cf}|\p{Zl}|\p{Zp}/gu, (mark) => mark.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''));
}

/** Whether `io` can do what only the terminal can. */
export function isTerminal(io: Pick<CommandIO, 'style'>): io is Terminal {
  return 'movesCursor' in io;
}

export function createTerminal(streams: StandardStreams): Terminal {
  // Standard input is not touched before it is needed: making its stream costs, and may hold it open.
  const { env } = streams;
  const remarks = outputTo(streams.stderr, () => undefined);
  const result = outputTo(streams.stdout, (reason) => remarks.write(`agent: the output could not be written: ${reason}\n`));
  const remarkStyle = styleFor(remarks.isTerminal, env);
  let lastQuestion: Promise<unknown> = Promise.resolve();
  let drawn = 0;

  return {
    interactive: result.isTerminal,
    movesCursor: result.isTerminal && env['TERM'] !== 'dumb',
    get columns() {
      return result.columns();
    },
    style: styleFor(result.isTerminal, env),
    remarkStyle,
    questionStyle: styleFor(true, env),
    write: (text) => result.write(text),
    draw(rows) {
      const erasing = drawn > 0 ? `\u001b[${drawn}A\u001b[J` : '';
      drawn = rows.length;
      const text = erasing + rows.map((row) => `${row}\n`).join('');
      if (text) result.write(text);
    },
    get stdin() {
      return streams.stdin;
    },
    print: (text) => result.write(`${text}\n`),
    json: (value) => result.write(`${jsonLine(value)}\n`),
    say: (text) => remarks.write(`${remarks.isTerminal ? wrap(text, remarks.columns(), hanging).join('\n') : text}\n`),
    progress(text) {
      if (!remarks.isTerminal || env['TERM'] === 'dumb') return;
      remarks.write(`\r\u001b[K${text === undefined ? '' : remarkStyle.dim(truncate(text, remarks.columns() - 1))}`);
    },
    confirm(question, signal) {
      // One at a time: two prompts on one terminal cannot be told apart.
      const answer = lastQuestion.then(() => confirm(question, streams.stdin, [remarks, result], signal));
      lastQuestion = answer.catch(() => undefined);
      return answer;
    },
    async input(given = false) {
      const { stdin } = streams;
      if (stdin.isTTY) return undefined;
      const patience = given ? patienceWith(stdin) : longPatience;
      const text = await readAll(stdin, patience);
      if (text === undefined && patience > 1_000) {
        remarks.write(`${remarkStyle.dim(`standard input is a pipe that sent nothing for ${patience / 1_000} s: going on without it`)}\n`);
      }
      return text;
    },
    async flush() {
      await result.flush();
      // Only now is it known whether there is more to say.
      await remarks.flush();
      return !result.isLost();
    },
  };
}
