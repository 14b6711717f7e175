/** Running git: which program, with which surroundings, and what its failures mean. */
import { findProgram, isOperational, OperationalError, type PluginContext } from 'newt-agent';
import { failureFor } from './failure.ts';
import { readEnvironment, readSettings, surroundings } from './surroundings.ts';

export interface GitOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; default one minute for a read, ten for a write, whose hooks may run tests. */
  readonly timeout?: number;
  /** Standard input. */
  readonly input?: string;
  /** Further options of git itself, for a read: such as `-c`, `key=value`. */
  readonly before?: readonly string[];
}

/** Both answer standard output. @throws OperationalError that says what to do next */
export interface Git {
  /** Runs a command that changes nothing, without anything that the repository configures to be run. */
  read(folder: string, args: readonly string[], options?: GitOptions): Promise<string>;
  /** Runs a command as git does: hooks see no setting of ours. With hooks and filters; never with an editor, a pager or a prompt. */
  write(folder: string, args: readonly string[], options?: GitOptions): Promise<string>;
}

const writeTimeout = 600_000;

/** @param searchPath the value of PATH; a git that lies in the folder it is to look at is passed over */
export function createGit(p: Pick<PluginContext, 'exec'>, searchPath: () => string | undefined = () => process.env['PATH']): Git {
  async function run(folder: string, args: readonly string[], env: Readonly<Record<string, string>>, { signal, timeout, input }: GitOptions): Promise<string> {
    if (args.some((one) => one.includes('\0'))) throw new OperationalError('No name, path or text that git is given can hold a NUL character. Nothing was run.');
    const program = findProgram('git', searchPath() ?? '', folder);
    if (program === undefined) throw new OperationalError('There is no git: it was not found in PATH (one that lies below ${folder} is not used). Tell the person to install it.', { code: 'NO_GIT' });
    try {
      return await p.exec(program, args, { cwd: folder, env, ...(signal && { signal }), ...(timeout !== undefined && { timeout }), ...(input !== undefined && { input }) });
    } catch (error) {
      throw isOperational(error) ? failureFor(error as OperationalError, folder, args) : error;
    }
  }
  return {
    read: (folder, args, options = {}) => run(folder, ['--no-pager', ...readSettings.flatMap((one) => ['-c', one]), ...(options.before ?? []), ...args], { ...surroundings, ...readEnvironment }, options),
    write: (folder, args, options = {}) => run(folder, ['--no-pager', ...args], surroundings, { timeout: writeTimeout, ...options }),
  };
}
