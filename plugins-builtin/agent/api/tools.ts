/** Tools: what the model can do. */
import { type Call, definePoint, type Json } from '../../../kernel/index.ts';
import type { z } from 'zod';

export type Effect = 'read' | 'write' | 'exec' | 'net';
export type Access = 'read' | 'write';

/** A path a call is about to use, as the model gave it. */
export interface Touch {
  readonly path: string;
  readonly access: Access;
}

/** What a session lends to the tools that work in it. */
export interface ToolSession {
  readonly id: string;
  /** Absolute real path of the workspace. */
  readonly cwd: string;
  /** Scratch that lives and dies with the session: caches of a tool belong here, keyed by plugin. */
  readonly memory: Map<string, unknown>;
  /** Folder for results too large to show and for the output of running commands. */
  readonly spillFolder: string;
}

export interface ToolCall extends Call {
  /** Id of this tool call in the event log. */
  readonly id: string;
  readonly session: ToolSession;
  /**
   * The real absolute path behind `path` (relative to the workspace), symlinks followed as far as it exists.
   * @throws OperationalError when it lies outside the workspace and no one approved it for this call.
   */
  resolve(path: string, access: Access): Promise<string>;
  /** Shows text to the person while the tool works. */
  output(text: string): void;
}

export interface ToolResult {
  readonly text: string;
  /** The tool could not do what it was asked; the text says why and that nothing changed. */
  readonly isError?: boolean;
  /** For programs that read the event log. */
  readonly data?: Json;
  readonly images?: readonly { readonly mediaType: string; readonly base64: string }[];
}

export interface Tool<Input = never> {
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly effect: Effect;
  /** Calling it twice does what calling it once does. Default: true for `read`. */
  readonly idempotent?: boolean;
  /** Seconds a call may take; default `tools.timeout`. */
  readonly deadline?: number;
  /** The files a call will use: judged by the gate before it runs. */
  touches?(input: Input, call: ToolCall): readonly Touch[];
  /** What a person is shown before they say yes: a diff, or a command line. */
  preview?(input: Input, call: ToolCall): string | undefined | Promise<string | undefined>;
  run(input: Input, call: ToolCall): ToolResult | string | Promise<ToolResult | string>;
}

/** A tool whose input type follows from its schema. */
export function tool<Input>(definition: Tool<Input>): Tool {
  return definition as unknown as Tool;
}

const second = 1_000;
const previewDeadline = 10 * second;
/** Far above every sensible tool: the loop itself enforces `tools.timeout`, this frees a caller that forgot. */
const defaultDeadline = 120 * second;

declare module '../../../kernel/index.ts' {
  interface ContributionMap {
    tools: Tool;
  }
}

export const toolsPoint = definePoint('tools', {
  check: (item) =>
    typeof item.description !== 'string' || !item.description
      ? 'needs a description'
      : typeof item.input?.safeParse !== 'function'
        ? 'needs an input schema made with z'
        : !['read', 'write', 'exec', 'net'].includes(item.effect)
          ? "effect must be 'read', 'write', 'exec' or 'net'"
          : undefined,
  members: {
    touches: { kind: 'call', deadline: previewDeadline, optional: true, check: Array.isArray },
    preview: { kind: 'call', deadline: previewDeadline, optional: true, onFault: () => undefined },
    run: {
      kind: 'call',
      deadline: (item) => (item.deadline === undefined ? defaultDeadline : item.deadline * second),
      check: isToolAnswer,
    },
  },
});

function isToolAnswer(value: unknown): value is ToolResult | string {
  return typeof value === 'string' || (typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string');
}
