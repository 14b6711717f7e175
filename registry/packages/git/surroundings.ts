/**
 * What git finds around it. A repository can name programs that git runs; commands that only read must not run any of
 * them, since nobody is asked before they run. Each line below is tried by a booby-trapped repository in `traps.test.ts`.
 */

/** For every command: no question, no editor, no pager, English messages, pathspecs as we write them. */
export const surroundings: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: '0',
  // Empty means none, whatever core.askPass says.
  GIT_ASKPASS: '',
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  GIT_PAGER: 'cat',
  GIT_MERGE_AUTOEDIT: 'no',
  // Unlike LC_ALL it changes no encoding for the hooks that see it.
  LANGUAGE: 'en',
  GIT_LITERAL_PATHSPECS: '0',
};

/** The value of settings whose name holds a `=`, which `-c` would take for its end. */
const empty = 'AGENT_GIT_EMPTY';

export const readEnvironment: Readonly<Record<string, string>> = {
  // A refreshed index would be written, and post-index-change run.
  GIT_OPTIONAL_LOCKS: '0',
  // A partial clone fetches what it lacks, by whatever command its configuration names: the first for git since 2.45.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  [empty]: '',
};

export const readSettings: readonly string[] = [
  'color.ui=false',
  'core.quotePath=false',
  // Empty is off for every version; "false" was a program's name before 2.36.
  'core.fsmonitor=',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.sshCommand=',
  'core.alternateRefsCommand=',
  'diff.autoRefreshIndex=false',
  // gpg is asked about signatures, merge drivers are run to show a merge again, submodules are programs of their own.
  'log.showSignature=false',
  'log.diffMerges=off',
  'status.submoduleSummary=false',
  'submodule.recurse=false',
  // A file that is named for all repositories and missing in one makes blame fail.
  'blame.ignoreRevsFile=',
];

/** For whatever shows differences: no external program, no conversion, names as `a/…` and `b/…`. */
export const plainDiff: readonly string[] = ['--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short', '--ignore-submodules=dirty', '--find-renames'];

/**
 * Options that turn off the filter drivers (`clean`, `smudge`, `process`) which the repository itself configures:
 * status, diff and blame run them on files that may have changed. Those of the person's own configuration stay.
 *
 * @param listed output of `git config --show-scope -z --name-only --get-regexp '^filter\.'`
 */
export function withoutFilters(listed: string): { readonly names: readonly string[]; readonly options: readonly string[] } {
  const fields = listed.split('\0');
  const names = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope, key = ''] = [fields[at], fields[at + 1]];
    const name = /^filter\.([\s\S]*)\.[^.]+$/.exec(key)?.[1];
    if (name !== undefined && (scope === 'local' || scope === 'worktree')) names.add(name);
  }
  const off = (key: string): string[] => (key.includes('=') ? [`--config-env=${key}=${empty}`] : ['-c', `${key}=`]);
  return { names: [...names], options: [...names].flatMap((name) => ['clean', 'smudge', 'process', 'required'].flatMap((part) => off(`filter.${name}.${part}`))) };
}
