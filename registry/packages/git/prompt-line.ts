/** One line in the prompt: the branch, and how much is not committed. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isOperational, type OperationalError, type PluginContext, type Prompt } from 'newt-agent';
import { nameText, plural } from './bounded-text.ts';
import { parseStatus } from './parse-status.ts';
import { ownSettings } from './repository.ts';
import type { Git } from './run-git.ts';

/** Milliseconds: a prompt that waits is worse than one without the line. */
const patience = 500;
const fresh = 2_000;
const maxKept = 20;
const maxName = 80;

type Told = { readonly at: number; readonly line: Promise<string | undefined> };

/** A tap of `prompt.build` that never fails it. */
export function promptLine(p: Pick<PluginContext, 'now' | 'log'>, git: Git): (prompt: Prompt) => Promise<Prompt> {
  const known = new Map<string, Told>();
  return async (prompt) => {
    const { cwd } = prompt;
    // Looked for without a process: most folders without a repository are told apart at once.
    if (!isInRepository(cwd)) return prompt;
    let told = known.get(cwd);
    if (!told || p.now() - told.at > fresh) {
      told = { at: p.now(), line: lineFor(git, cwd).catch((error: unknown) => unknown(p, error)) };
      known.delete(cwd);
      known.set(cwd, told);
      if (known.size > maxKept) known.delete(known.keys().next().value as string);
    }
    const text = await told.line;
    return text === undefined ? prompt : { ...prompt, sections: [...prompt.sections, { id: 'git', text }] };
  };
}

function unknown({ log }: Pick<PluginContext, 'log'>, error: unknown): undefined {
  if (!isOperational(error)) throw error;
  log.debug(`no line for the prompt: ${(error as OperationalError).message}`);
}

async function lineFor(git: Git, cwd: string): Promise<string> {
  const signal = AbortSignal.timeout(patience);
  const { turnedOff: before } = await ownSettings(git, cwd, signal);
  const status = parseStatus(await git.read(cwd, ['status', '--porcelain=v2', '--branch', '--no-ahead-behind', '-z', '--untracked-files=no', '--ignore-submodules=dirty', '--', '.'], { signal, timeout: patience, before }));
  const { branch, commit, changes, conflicts } = status;
  const head = branch === undefined ? `HEAD detached at ${commit?.slice(0, 10) ?? 'nothing'}` : `branch ${nameText(branch).slice(0, maxName)}${commit === undefined ? ' without a commit' : ''}`;
  const dirty = conflicts.length ? plural(conflicts.length, 'conflict') : changes.length ? `${plural(changes.length, 'tracked file')} changed` : 'no tracked file changed';
  return `Git when this began: ${head}, ${dirty}. git_status tells how it is now.`;
}

/** As git looks for one: in the folder and those around it. */
function isInRepository(cwd: string): boolean {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return true;
    if (dirname(folder) === folder) return false;
  }
}
