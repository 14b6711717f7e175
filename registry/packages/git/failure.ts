/** What git says when it fails, as what happened and what to do next. */
import { OperationalError, printable } from 'newt-agent';

const maxSaid = 2_000;

type Explain = (found: RegExpExecArray, folder: string) => string;

/** The first that fits counts. */
const known: readonly (readonly [pattern: RegExp, explain: Explain])[] = [
  [/detected dubious ownership in repository at '([\s\S]*?)'\n|unsafe repository \('([\s\S]*?)'/, ([, one, other], folder) => `git refuses the repository at ${one ?? other ?? folder}: it belongs to another user, who could make git run things. If the person trusts it, they can run: git config --global --add safe.directory '${one ?? other ?? folder}'. Do not do that for them.`],
  [/not a git repository: '?([^'\n]+?)'?\n/, ([, place], folder) => `${folder} has a .git that leads to ${place}, where no repository is any more: a worktree or submodule that was removed or moved. \`git worktree repair\` or \`git submodule update --init\` may mend it.`],
  [/not a git repository/, (_, folder) => `${folder} is not in a git repository. Name the folder of one as "repository"; \`git init\` makes a new one, if that is wanted.`],
  [/Unable to create '([\s\S]*?\.lock)': File exists/, ([, file]) => `Another git command is at work, or one was killed: ${file} exists. Nothing was changed. Try again in a moment; if no git runs any more, the person can delete that file.`],
  [/Please tell me who you are|unable to auto-detect email address|empty ident name/, () => 'git does not know who commits. Nothing was committed. Ask the person for the name and address to use, and to set them: git config user.name … and git config user.email …'],
  [/(?:local changes to|untracked working tree files) [\s\S]*?would be (?:overwritten|removed) by [\s\S]*?:\n([\s\S]*?)\n(?:Please|Aborting|$)/, ([, files = '']) => `These changes are in the way, and would be lost:\n${files.replace(/^\s+/gm, '  ')}\nNothing was changed. Commit them with git_commit, or put them aside with git_stash, first.`],
  [/The following paths are ignored by one of your \.gitignore files:\n([\s\S]*?)\n(?:hint|$)/, ([, files = '']) => `.gitignore excludes: ${files.split('\n').join(', ')}. Leave them out, or change .gitignore first.`],
  [/pathspec '(?::\(top,literal\))?([\s\S]*?)' did not match any file/, ([, path]) => `git knows no file ${path}: it is neither tracked nor there. git_status shows what has changed.`],
  [/Pathspec '[\s\S]*?' is in submodule '([\s\S]*?)'/, ([, module]) => `That lies in the submodule ${module}, a repository of its own: pass it as "repository".`],
  [/is (?:already (?:used by worktree|checked out) at|used by worktree at) '([\s\S]*?)'/, ([, place]) => `That branch is checked out in another worktree, ${place}: work there, or switch that one first.`],
  [/[Cc]annot delete branch '([\s\S]*?)' (?:checked out|used by worktree) at '([\s\S]*?)'/, ([, name, place]) => `The branch ${name} is checked out at ${place}: switch to another one first.`],
  [/must be run in a work tree|cannot use bare repository/, (_, folder) => `${folder} is a bare repository: it has no files to work on. Use a clone or a worktree of it.`],
  [/transport '[^']*' not allowed|lazy fetching disabled|could not fetch [0-9a-f]+ from promisor remote|promised? object/, () => 'This is a partial clone that lacks the objects for this, and reading does not fetch. `git fetch --refetch --filter=…` or a checkout brings them, if the person wants that.'],
  [/index file corrupt|bad index file|index file smaller than expected/, () => 'The index of the repository is damaged. The person can delete .git/index and run `git reset`, which loses nothing but what was staged.'],
];

/** The failure of one command: what git said, in words that lead on. */
export function failureFor(error: OperationalError, folder: string, args: readonly string[]): OperationalError {
  const { exitCode, stderr, stdout } = error.details as { exitCode?: number; stderr?: string; stdout?: string };
  const said = printable(stderr ?? '').trim();
  const name = commandOf(args);
  for (const [pattern, explain] of known) {
    const found = pattern.exec(`${said}\n`);
    if (found) return new OperationalError(explain(found, folder), { exitCode, stderr: said.slice(0, maxSaid), stdout }, { cause: error });
  }
  // Without an exit code it was stopped, or never began: what ran it knows why.
  const what = exitCode === undefined ? `git ${name}: ${error.message}` : `git ${name} failed with exit code ${exitCode}${said ? `: ${ends(said)}` : ''}`;
  return new OperationalError(what, { exitCode, stderr: said.slice(0, maxSaid), stdout }, { cause: error });
}

/** A hook may have said a lot, and what went wrong comes last. */
function ends(said: string): string {
  return said.length <= maxSaid ? said : `${said.slice(0, maxSaid / 4)}\n…\n${said.slice(-maxSaid * 0.75)}`;
}

function commandOf(args: readonly string[]): string {
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === '-c') at += 1;
    else if (!args[at]?.startsWith('-')) return args[at] ?? '';
  }
  return '';
}
