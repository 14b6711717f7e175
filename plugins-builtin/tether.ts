/** The pipe to whoever started this process for a person: the launcher of an old Node, `--supervised`. */
import { Socket } from 'node:net';

export const tetherVariable = 'AGENT_TETHER';

/** Ends this process as SIGTERM would when the one that started it is gone: nobody could stop it any more. */
export function holdTether(env: NodeJS.ProcessEnv): void {
  const fd = Number(env[tetherVariable]);
  // What is started from here has another parent.
  delete env[tetherVariable];
  if (!Number.isInteger(fd) || fd < 3) return;
  try {
    const pipe = new Socket({ fd, readable: true, writable: false });
    pipe.on('error', () => undefined).on('close', () => process.kill(process.pid, 'SIGTERM'));
    pipe.resume();
    pipe.unref();
  } catch {
    // It is no pipe: somebody else has set the variable.
  }
}
