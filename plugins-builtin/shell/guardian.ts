/** The process that outlives the agent by a moment: it ends the programs left behind, and puts the terminal back. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { describeError, type Disposable, disposable, type ProcessGuardian, type TerminalModes } from 'newt-agent';
import { guardianScript } from './guardian-script.ts';
import { readTerminal } from './terminal-state.ts';

export type Guardian = ProcessGuardian & TerminalModes;

/** Where the programs of every system are; NixOS has them nowhere else than in the last. Nothing of the agent's own environment. */
export const systemEnvironment = { PATH: '/usr/bin:/bin:/run/current-system/sw/bin' };

/**
 * Its process runs while there is something to guard; on Windows, which has neither process groups nor these modes, never.
 *
 * @param failed hears, once, why it cannot be started: the agent works without it
 */
export function createGuardian(failed: (reason: string) => void, shell = '/bin/sh'): Guardian {
  const guarded = new Map<symbol, number>();
  const changes = new Set<symbol>();
  let terminal = '';
  let child: ChildProcess | undefined;
  let hasFailed = false;

  const start = (): ChildProcess => {
    const started = spawn(shell, ['-c', guardianScript], {
      // Its own session: the Ctrl-C and the kill of the agent's group that it guards against must not reach it.
      detached: true,
      cwd: '/',
      env: systemEnvironment,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const forget = (): void => {
      if (child === started) child = undefined;
    };
    started.on('exit', forget).on('error', (error) => {
      forget();
      fail(error.message);
    });
    started.stdin?.on('error', forget);
    started.unref();
    if (started.stdin instanceof Socket) started.stdin.unref();
    return started;
  };
  const fail = (reason: string): void => {
    if (!hasFailed) failed(reason);
    hasFailed = true;
  };
  const tell = (): void => {
    if (guarded.size === 0 && changes.size === 0) {
      // The good-bye: all it knows of is nothing.
      child?.stdin?.end('groups\nterminal\n');
      child = undefined;
      return;
    }
    try {
      child ??= start();
    } catch (error) {
      return fail(describeError(error));
    }
    child.stdin?.write(`groups ${[...new Set(guarded.values())].join(' ')}\nterminal ${terminal}\n`);
  };
  const until = (undo: () => void): Disposable => {
    tell();
    return disposable(() => {
      undo();
      tell();
    });
  };

  return {
    guard(group) {
      // Group 1 would be `kill -1`, which means every process there is.
      if (process.platform === 'win32' || !(group > 1)) return { dispose: () => undefined };
      const key = Symbol();
      guarded.set(key, group);
      return until(() => guarded.delete(key));
    },
    changing() {
      if (changes.size === 0) terminal = readTerminal(systemEnvironment) ?? '';
      if (terminal === '') return { dispose: () => undefined };
      const key = Symbol();
      changes.add(key);
      return until(() => {
        changes.delete(key);
        if (changes.size === 0) terminal = '';
      });
    },
  };
}
