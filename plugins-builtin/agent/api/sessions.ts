/** Sessions: one conversation in one workspace. */
import { defineService } from '../../../kernel/index.ts';
import type { Event } from './events.ts';

export type PermissionMode = 'normal' | 'auto';

/** A question to the person about one tool call. */
export interface Question {
  readonly call: string;
  readonly question: string;
  readonly reason: string;
  readonly rule?: string;
  /** A diff or a command line. */
  readonly preview?: string;
}

export interface SessionOptions {
  /** Workspace folder; must exist. */
  readonly cwd: string;
  /** `provider/model`; default from configuration and environment. */
  readonly model?: string;
  readonly mode?: PermissionMode;
  readonly maxRounds?: number;
  /** Asks the person; `undefined` when nobody can be asked. Time spent here counts against no deadline. */
  readonly ask?: (question: Question, signal: AbortSignal) => Promise<boolean | undefined>;
  /** Hears every record after it was written. */
  readonly onEvent?: (event: Event) => void;
}

export interface RunResult {
  readonly reason: Extract<Event, { type: 'stop' }>['data']['reason'];
  /** Exit code: 0 done, 1 failed, 2 configuration, 3 rounds exhausted, 130 cancelled. */
  readonly code: number;
  /** The final answer, or what went wrong. */
  readonly text: string;
}

export interface Session {
  readonly id: string;
  /** Absolute path of the event log. */
  readonly file: string;
  /** Works on one request of the person until it is done. */
  run(prompt: string, signal: AbortSignal): Promise<RunResult>;
  close(): Promise<void>;
}

export interface Sessions {
  /** @throws OperationalError or KernelError with the fix: no such folder, no model configured. */
  open(options: SessionOptions): Promise<Session>;
}

export const sessions = defineService<Sessions>('agent.sessions');
