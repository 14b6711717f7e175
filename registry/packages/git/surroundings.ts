/**
 * What git finds around it. A repository can name programs that git runs; commands that only read must not run any of
 * them, since nobody is asked before they run. `traps.test.ts` tries it with a booby-trapped repository; some of the lines
 * below are a second lock on one door.
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

/** Variables for the values of settings whose name may hold a `=`, which `-c` would take for its end. */
const off = 'AGENT_GIT_OFF';
const none = 'AGENT_GIT_NONE';

export const readEnvironment: Readonly<Record<string, string>> = {
  // A refreshed index would be written, and post-index-change run.
  GIT_OPTIONAL_LOCKS: '0',
  // A partial clone fetches what it lacks, by whatever command its configuration names: the first for git since 2.45.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  [off]: 'false',
  [none]: '',
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

/** Arguments of `git config` whose output {@link parseSettings} reads. */
export const settingsQuery: readonly string[] = ['--show-scope', '-z', '--get-regexp', '^(filter\\..*|hook\\..*|core\\.worktree)$'];

export interface OwnSettings {
  /** Filter drivers (`clean`, `smudge`, `process`) that the repository itself configures; the person's own are not among them. */
  readonly filters: readonly string[];
  /**
   * Options of git that turn off these, which status, diff and blame run on files that may have changed, and the hooks
   * that the configuration itself holds (since 2.54), which lie in no folder.
   */
  readonly turnedOff: readonly string[];
  readonly worktree: string | undefined;
}

export function parseSettings(output: string): OwnSettings {
  const fields = output.split('\0');
  const filters = new Set<string>();
  const hooks = new Set<string>();
  let worktree: string | undefined;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope, field = ''] = [fields[at], fields[at + 1]];
    if (scope !== 'local' && scope !== 'worktree') continue;
    // The name of a key ends at the first line end, and holds none.
    const [, key = '', value] = /^([^\n]*)\n?([\s\S]*)$/.exec(field) ?? [];
    const [, section, name] = /^(filter|hook)\.(.*)\.[^.]+$/.exec(key) ?? [];
    if (key === 'core.worktree') worktree = value;
    else if (name !== undefined) (section === 'filter' ? filters : hooks).add(name);
  }
  const set = (key: string, variable: string): string => `--config-env=${key}=${variable}`;
  return {
    filters: [...filters],
    turnedOff: [
      ...[...filters].flatMap((name) => [...['clean', 'smudge', 'process'].map((part) => set(`filter.${name}.${part}`, none)), set(`filter.${name}.required`, off)]),
      ...[...hooks].map((name) => set(`hook.${name}.enabled`, off)),
    ],
    worktree,
  };
}
