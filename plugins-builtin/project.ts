/** The project a command line is about, and whether what it brings may count. Before anything of it is loaded. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Ignored } from '../kernel/config/sources.ts';
import { noTrust } from '../kernel/config/problem.ts';
import type { ConfigKey } from '../kernel/config/schema.ts';
import { isKernelError, KernelError } from '../kernel/errors.ts';
import { projectFolder } from '../kernel/paths.ts';
import type { Trust } from '../kernel/trust/trust.ts';
import { shellWord, shortPath } from './public.ts';

/**
 * The `.agent` folder of the workspace a command is about.
 * @throws KernelError for a `--cwd` that is no folder
 */
export function projectOf(argv: readonly string[]): string | undefined {
  const given = givenFolder(argv);
  if (given !== undefined && !isFolder(given)) {
    const what = existsSync(given) ? `${given} is not a folder` : `there is no folder ${given}`;
    throw new KernelError('ARGUMENT', { what, hint: 'name one that exists with --cwd' });
  }
  try {
    return projectFolder(resolve(given ?? '.'));
  } catch {
    return undefined; // the current folder is gone: a command that needs it says so
  }
}

/** What `--cwd` says. Words behind `--` are arguments. */
function givenFolder(argv: readonly string[]): string | undefined {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const at = words.findLastIndex((word) => word === '--cwd' || word.startsWith('--cwd='));
  return at < 0 ? undefined : words[at]?.startsWith('--cwd=') ? words[at].slice('--cwd='.length) : words[at + 1];
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

interface Untrusted {
  /** Says that it is so, and what to do. */
  readonly notice: string;
  /** Whether the person was shown what is left out, and said no. */
  readonly declined: boolean;
}

interface TrustQuestion {
  readonly trust: Trust;
  readonly project: string | undefined;
  readonly argv: readonly string[];
  /** All keys there are. */
  readonly keys: () => readonly ConfigKey[];
  /** See `configReader`. */
  readonly emptyFolder: string;
}

/** Why the project's plugins and settings do not count; asks the person where that is possible. */
export async function findUntrusted({ trust, project, argv, keys, emptyFolder }: TrustQuestion): Promise<Untrusted | undefined> {
  if (project === undefined) return undefined;
  const { status, reason, digest } = trust.status(project);
  if (status === 'trusted' || status === 'nothing-to-trust') return undefined;
  const shown = shortPath(project);
  const problem = status === 'changed' ? `${shown} has changed since it was trusted` : `${shown} is not trusted${reason ? ` (${reason})` : ''}`;
  const given = givenFolder(argv);
  const place = given === undefined ? '' : ` --cwd ${shellWord(given)}`;
  let answer: boolean | undefined;
  if ((argv[0] === 'run' || argv[0] === 'chat') && reason === undefined) {
    const [{ confirmOnTerminal }, { styleFor }, { trustContent, trustQuestion }] = await Promise.all([import('./cli/confirm.ts'), import('./cli/style.ts'), import('../registry/trust-content.ts')]);
    const content = orUndefined(() => trustContent(project, keys(), emptyFolder));
    // What cannot be shown cannot be agreed to. Its settings are left out, which is told where they are read.
    answer = content && (await confirmOnTerminal(trustQuestion(problem, content, place, styleFor(true, process.env), process.stderr.columns || 80)));
    if (answer) {
      trust.grant(project, digest);
      return undefined;
    }
  }
  const notice = `${problem}: its plugins, and the settings that need trust, are left out. See them with: agent trust status${place}; trust them with: agent trust grant${place}`;
  return { notice, declined: answer === false };
}

/** What `read` answers, or undefined where a file it needs cannot be read. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isKernelError(error)) return undefined;
    throw error;
  }
}

/** How many settings are told one by one: a repository can be full of them. */
const maxIgnored = 8;

/** What of the configuration does not count, one line each. Somebody who has just declined it knows. */
export function ignoredLines(ignored: readonly Ignored[], untrusted: Untrusted | undefined): string[] {
  const news = ignored.filter(({ why }) => !untrusted?.declined || why !== noTrust);
  const lines = news.slice(0, maxIgnored).map(({ key, file, line, why }) => `${file ? `${shortPath(file)}${line ? `:${line}` : ''}: ` : ''}${key} is ignored: ${why}`);
  return news.length > maxIgnored ? [...lines, `${news.length - maxIgnored} more settings are ignored. See them with: agent config list`] : lines;
}
