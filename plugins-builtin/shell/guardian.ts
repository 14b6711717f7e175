/** The process that outlives the agent by a moment, and ends the commands it left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';

interface Guardian {
  /** Replaces the list of process groups that must not outlive the agent. */
  watch(groups: readonly number[]): void;
  dispose(): void;
}

/**
 * The last complete line of standard input is the list. Its end means that the agent is gone, however
 * it went: the system closes the pipe even after kill -9, when no handler of the agent runs.
 */
const script = `
groups=
while read -r line; do groups=$line; done
for group in $groups; do kill -s TERM -- "-$group"; done
[ -z "$groups" ] || sleep 2
for group in $groups; do kill -s KILL -- "-$group"; done
`;

/** Starts with the first list; on Windows, which has no process groups, it does nothing. */
export function guardian(): Guardian {
  let child: ChildProcess | undefined;

  const start = (): ChildProcess => {
    const started = spawn('/bin/sh', ['-c', script], {
      // Its own session: the Ctrl-C and the kill of the agent's group that it guards against must not reach it.
      detached: true,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const forget = (): void => {
      if (child === started) child = undefined;
    };
    started.on('error', forget).on('exit', forget);
    started.stdin?.on('error', forget);
    started.unref();
    if (started.stdin instanceof Socket) started.stdin.unref();
    return started;
  };

  return {
    watch(groups) {
      if (process.platform === 'win32' || (!child && groups.length === 0)) return;
      child ??= start();
      child.stdin?.write(`${groups.join(' ')}\n`);
    },
    dispose() {
      child?.stdin?.end();
      child = undefined;
    },
  };
}
