/** The environment of a command: what it may know, and what keeps it from asking a person. */

/**
 * Secrets are never handed to children: a command of the model could print them into the conversation.
 * The name decides. `SSH_AUTH_SOCK` and its like stay: they let a program use a key without showing it.
 */
const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
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

/** @param cwd the folder the command runs in; an inherited `PWD` may name another. */
export function childEnvironment(cwd: string, parent: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const inherited = Object.entries(parent).filter(([name]) => !unwanted.has(name) && !secretName.test(name) && !agentName.test(name));
  return { ...Object.fromEntries(inherited), ...unattended, PWD: cwd };
}
