/** The hooks of the agent domain. */
import { defineHook, type Hook, type Json } from '../../../kernel/index.ts';
import { isBetterText, isContinuation, isModelRequest, isModelResponse, isPrompt, isRecovery, isToolOutcome, isToolUse } from './hook-checks.ts';
import type { PermissionMode } from './sessions.ts';
import type { Access, Effect } from './tools.ts';

export interface PromptSection {
  readonly id: string;
  readonly text: string;
}

/** The fixed text in front of every conversation. What plugins add shares 1 kB; the excess is dropped and reported. */
export interface Prompt {
  readonly cwd: string;
  readonly sections: readonly PromptSection[];
}

export interface SessionPayload {
  readonly session: string;
  readonly cwd: string;
}

export interface TurnPayload extends SessionPayload {
  readonly round: number;
}

/** One message of a conversation, in the shape of the AI SDK's `LanguageModelV4Prompt`. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: Json;
}

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Json;
}

export interface ModelRequest {
  readonly session: string;
  readonly round: number;
  /** `provider/model` */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly temperature?: number;
  readonly maxTokens?: number;
}

export interface ModelDelta {
  readonly session: string;
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

export interface AnnouncedCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
}

/** One thought, as its provider wants it back. */
export interface ReasoningPart {
  /** Empty where the provider keeps it to itself. */
  readonly text: string;
  /** Characters of the answer's text before it; default 0. */
  readonly at?: number;
  /** The provider's signature and the like: `providerOptions` of the AI SDK. */
  readonly provider?: Json;
}

export interface ModelResponse {
  readonly session: string;
  readonly round: number;
  readonly text: string;
  readonly reasoning: string;
  readonly reasoningParts?: readonly ReasoningPart[];
  readonly calls: readonly AnnouncedCall[];
  readonly finish: string;
}

export interface ModelFailure {
  readonly session: string;
  readonly message: string;
  readonly status?: number;
  /** 1 for the first failure of this request. */
  readonly attempt: number;
}

export interface Recovery {
  readonly retry: boolean;
  /** Milliseconds to wait first. */
  readonly after?: number;
}

/** A tool call with its checked input. */
export interface ToolUse {
  readonly session: string;
  readonly call: string;
  readonly name: string;
  readonly input: Json;
}

export interface GatedPath {
  readonly given: string;
  /** Absolute, symlinks followed. */
  readonly real: string;
  readonly access: Access;
  readonly inWorkspace: boolean;
  /** Lies in a project's `.agent` folder, whose content can change what the agent is. */
  readonly inAgentFolder: boolean;
}

export interface GatedUse extends ToolUse {
  /** What the person chose for this session; undefined where they left it to the configuration. */
  readonly mode?: PermissionMode;
  readonly effect: Effect;
  readonly paths: readonly GatedPath[];
}

export interface ToolOutcome extends ToolUse {
  readonly text: string;
  readonly isError: boolean;
  readonly data?: Json;
}

export interface StopPayload extends SessionPayload {
  readonly reason: string;
}

declare module '../../../kernel/index.ts' {
  interface HookMap {
    'session.start': Hook<'series', SessionPayload>;
    'session.end': Hook<'series', StopPayload>;
    'input.submit': Hook<'gate', SessionPayload & { readonly text: string }>;
    'prompt.build': Hook<'waterfall', Prompt>;
    'turn.start': Hook<'series', TurnPayload>;
    'turn.end': Hook<'series', TurnPayload>;
    'model.request': Hook<'waterfall', ModelRequest>;
    'model.delta': Hook<'series', ModelDelta, void, 'sync'>;
    'model.response': Hook<'waterfall', ModelResponse>;
    'model.error': Hook<'bail', ModelFailure, Recovery>;
    'tool.gate': Hook<'gate', GatedUse>;
    'tool.before': Hook<'waterfall', ToolUse>;
    'tool.after': Hook<'waterfall', ToolOutcome>;
    'tool.error': Hook<'bail', ToolOutcome, { readonly text: string }>;
    'agent.stop': Hook<'bail', StopPayload, { readonly continue: string }>;
    notify: Hook<'parallel', SessionPayload & { readonly about: 'ask' | 'stop'; readonly text: string }>;
  }
}

export const agentHooks = [
  defineHook('session.start', 'series'),
  defineHook('session.end', 'series'),
  defineHook('input.submit', 'gate', { fallback: { verdict: 'allow' } }),
  defineHook('prompt.build', 'waterfall', { check: isPrompt }),
  defineHook('turn.start', 'series'),
  defineHook('turn.end', 'series'),
  defineHook('model.request', 'waterfall', { check: isModelRequest }),
  defineHook('model.delta', 'series', { mode: 'sync' }),
  defineHook('model.response', 'waterfall', { check: isModelResponse }),
  defineHook('model.error', 'bail', { check: isRecovery }),
  defineHook('tool.gate', 'gate'),
  defineHook('tool.before', 'waterfall', { check: isToolUse }),
  defineHook('tool.after', 'waterfall', { check: isToolOutcome }),
  defineHook('tool.error', 'bail', { check: isBetterText }),
  defineHook('agent.stop', 'bail', { check: isContinuation }),
  defineHook('notify', 'parallel'),
];
