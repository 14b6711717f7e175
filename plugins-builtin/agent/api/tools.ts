/** Tools: what the model can do. */
import { type Call, definePoint, freezeJson, type Guarded, type Json, KernelError, oneLine } from '../../../kernel/index.ts';
import { imageTypes, isBase64 } from './images.ts';
import { toJSONSchema, type z } from 'zod';

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
  /** Shows text to the person while the tool works: the first 200 000 characters of a call, until it is answered. */
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

/** What a tool's schema says of some arguments. */
export type CheckedInput = { readonly ok: true; readonly input: unknown } | { readonly ok: false; readonly problem: string };

/**
 * Checks arguments against the schema of a tool.
 * @throws FaultError when a refinement or transform of the schema fails by itself
 */
export function checkInput(tool: Guarded<Tool>, input: unknown): Promise<CheckedInput> {
  return (tool as unknown as { checkInput(input: unknown): Promise<CheckedInput> }).checkInput(input);
}

async function checkedInput(schema: z.ZodType, input: unknown): Promise<CheckedInput> {
  const { success, data, error } = await schema.safeParseAsync(input);
  // zod drops what it does not know: a model that asked for more than it gets must hear of it.
  const strange = unknownArguments(schema, input);
  if (success && strange.length > 0) return { ok: false, problem: `there is no argument ${strange.join(', ')}` };
  if (success) return { ok: true, input: data };
  return { ok: false, problem: error.issues.slice(0, maxProblems).map(({ path, message }) => `${path.length ? `${path.join('.')}: ` : ''}${message}`).join('; ') };
}

function unknownArguments(schema: z.ZodType, input: unknown): string[] {
  const { shape, def } = schema as { shape?: unknown; def?: { catchall?: unknown } };
  if (!isObject(shape) || !isObject(input) || def?.catchall !== undefined) return [];
  return Object.keys(input).filter((name) => !Object.hasOwn(shape, name));
}

/** A tool whose input type follows from its schema. */
export function tool<Input>(definition: Tool<Input>): Tool {
  return definition as unknown as Tool;
}

const second = 1_000;
const previewDeadline = 10 * second;
const checkDeadline = 5 * second;
const maxProblems = 3;
/** Far above every sensible tool: the loop itself enforces `tools.timeout`, this frees a caller that forgot. */
const defaultDeadline = 120 * second;

declare module '../../../kernel/index.ts' {
  interface ContributionMap {
    tools: Tool;
  }
}

/** What a model is told of a tool's arguments: JSON Schema. */
export function inputSchema(tool: Guarded<Tool>): Json {
  return (tool as unknown as { inputSchema: Json }).inputSchema;
}

function jsonSchema(input: z.ZodType): Json {
  try {
    const { $schema: _, ...schema } = toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as { $schema?: string } & Record<string, Json>;
    return schema;
  } catch {
    // One tool's odd schema must not hide the others: its arguments are checked all the same.
    return { type: 'object' };
  }
}

export const toolsPoint = definePoint('tools', {
  facts: { inputSchema: { of: 'input', read: ({ input }) => jsonSchema(input) } },
  check: (item) =>
    typeof item.description !== 'string' || !item.description
      ? 'needs a description'
      : typeof item.input?.safeParseAsync !== 'function' || !('_zod' in item.input)
        ? 'needs an input schema made with z'
        : !['read', 'write', 'exec', 'net'].includes(item.effect)
          ? "effect must be 'read', 'write', 'exec' or 'net'"
          : undefined,
  members: {
    checkInput: { kind: 'call', deadline: checkDeadline, of: (item) => (input: unknown) => checkedInput(item.input, input) },
    touches: { kind: 'call', deadline: previewDeadline, optional: true, check: (value) => Array.isArray(value) && value.every(isTouch) },
    preview: { kind: 'call', deadline: previewDeadline, optional: true, onFault: () => undefined },
    run: {
      kind: 'call',
      deadline: (item) => (item.deadline === undefined ? defaultDeadline : item.deadline * second),
      check: isToolAnswer,
    },
  },
});

function isTouch(value: unknown): value is Touch {
  return isObject(value) && typeof value['path'] === 'string' && (value['access'] === 'read' || value['access'] === 'write');
}

/** @throws KernelError `NOT_JSON` for data that no event log could hold */
function isToolAnswer(value: unknown): value is ToolResult | string {
  if (typeof value === 'string') return true;
  if (!isObject(value) || typeof value['text'] !== 'string') return false;
  const { isError, images, data } = value;
  freezeJson(data);
  return (isError === undefined || typeof isError === 'boolean') && (images === undefined || (Array.isArray(images) && images.every(isImage)));
}

/** @throws KernelError `CONTRACT` that says what no model would take */
function isImage(value: unknown): boolean {
  if (!isObject(value)) return false;
  const problem = !imageTypes.includes(value['mediaType']) ? `of the type ${oneLine(String(value['mediaType']), 40)}` : isBase64(value['base64']) ? undefined : 'that is no base64';
  if (problem === undefined) return true;
  throw new KernelError('CONTRACT', { what: `answered an image ${problem}`, hint: `give { mediaType, base64 }, the type one of ${imageTypes.join(', ')}` });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
