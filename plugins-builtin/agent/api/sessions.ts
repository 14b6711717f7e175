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
  /** Event log to go on with: its conversation comes first, and its records are added to. Its model is used unless another is named. */
  readonly resume?: string;
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

/** What a session has come to so far: a projection of its log. */
export interface SessionStatus {
  /** `provider/model` */
  readonly model: string;
  readonly scripted: boolean;
  readonly mode: PermissionMode | undefined;
  readonly requests: number;
  readonly toolCalls: number;
  /** Tokens as the servers counted them, of all requests together. */
  readonly tokens: { readonly input: number; readonly output: number };
  readonly context: {
    readonly messages: number;
    /** Input tokens of the last request; undefined where the server did not say. */
    readonly tokens: number | undefined;
    /** What the next request is made of, in UTF-8 bytes of JSON. */
    readonly bytes: { readonly system: number; readonly tools: number; readonly conversation: number };
  };
}

export interface Session {
  readonly id: string;
  /** Absolute path of the event log. */
  readonly file: string;
  /**
   * A message for the model while it works, which it gets with its next round; a run that would have ended goes on for it.
   * Outside of a run it comes before the next request.
   */
  steer(text: string): void;
  status(): SessionStatus;
  /** The model from the next request on. @throws OperationalError with the fix, when there is no such model; the old one stays */
  useModel(name: string): Promise<void>;
  /** Works on one request of the person until it is done. */
  run(prompt: string, signal: AbortSignal): Promise<RunResult>;
  close(): Promise<void>;
}

export interface Sessions {
  /** @throws OperationalError or KernelError with the fix: no such folder, no model configured. */
  open(options: SessionOptions): Promise<Session>;
  /** The event log of the session last used in a workspace; undefined when there is none. */
  latest(cwd: string): Promise<string | undefined>;
}

export const sessions = defineService<Sessions>('agent.sessions');
