/**
 * The environment of a command: what it may know, and what keeps it from asking a person. Secrets are never handed
 * to children: a command of the model could print them into the conversation. The name decides, or that the
 * configuration reads the variable, or that another variable holds the same.
 */
import { isSecretName } from 'newt-agent';

/** Programs need these, and what a configuration reads from them is a place, not a secret. */
const needed = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|PWD|TERM|TMPDIR|TEMP|TMP|HOSTNAME|XDG_\w+|SystemRoot|ComSpec|USERPROFILE|APPDATA|LOCALAPPDATA)$/i;
/** Shorter values, such as `1`, are held by several variables by chance. */
const shortestSecret = 6;
/** The agent's own configuration; a nested agent would otherwise obey its parent's. */
const agentName = /^AGENT_/i;
/** Would be stale, or would overrule `NO_COLOR`. */
const unwanted = new Set(['OLDPWD', 'FORCE_COLOR', 'CLICOLOR_FORCE']);

/** Editors succeed without a change, pagers print, questions fail: there is no person at the other end. */
const unattended = {
  GIT_EDITOR: 'true',
  EDITOR: 'true',
  VISUAL: 'true',
  // `true` would accept git's proposed list, and `git rebase -i` would rewrite history unasked.
  GIT_SEQUENCE_EDITOR: 'false',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  TERM: 'dumb',
  NO_COLOR: '1',
};

/**
 * @param cwd the folder the command runs in; an inherited `PWD` may name another
 * @param read names of the variables that the configuration reads
 */
export function childEnvironment(cwd: string, read: readonly string[] = [], parent: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const hidden = new Set(read.filter((name) => !needed.test(name)));
  const values = new Set([...hidden].map((name) => parent[name] ?? '').filter((value) => value.length >= shortestSecret));
  const isSecret = (name: string, value = ''): boolean => isSecretName(name) || hidden.has(name) || (values.has(value) && !needed.test(name));
  const inherited = Object.entries(parent).filter(([name, value]) => !unwanted.has(name) && !agentName.test(name) && !isSecret(name, value));
  return { ...Object.fromEntries(inherited), ...unattended, PWD: cwd };
}
