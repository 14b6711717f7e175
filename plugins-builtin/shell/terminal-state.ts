/** The settings of the terminal this process runs on, in a form that can be put back. */
import { spawnSync } from 'node:child_process';
import { isatty } from 'node:tty';

/** Reading takes a few milliseconds; a terminal that is gone may not answer. */
const patience = 1_000;

/**
 * The path of the terminal that one of the standard streams is, a space, and what `stty` takes to set it as it is now.
 * The path, because nobody may keep a terminal open that its owner closes. Undefined where there is none.
 */
export function readTerminal(env: Readonly<Record<string, string>>): string | undefined {
  const stream = process.platform === 'win32' ? undefined : [0, 1, 2].find((descriptor) => isatty(descriptor));
  if (stream === undefined) return undefined;
  const { stdout } = spawnSync('/bin/sh', ['-c', 'tty && stty -g'], { stdio: [stream, 'pipe', 'ignore'], cwd: '/', env, timeout: patience, killSignal: 'SIGKILL', encoding: 'utf8' });
  const [path = '', settings = ''] = (stdout ?? '').split('\n');
  // They become words of a command line: no character that has a meaning there.
  return /^\/dev\/[\w/.-]+$/.test(path) && /^[\w:=,.-]+$/.test(settings) ? `${path} ${settings}` : undefined;
}
