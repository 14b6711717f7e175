/**
 * The event log: a session is one append-only file of these records, and everything a person or a
 * program sees is a projection of it.
 */
import { z } from 'zod';

/** Built on demand: a start that only writes records has no use for their schemas. */
function shapes() {
  const id = z.string();
  const text = z.string();
  return {
    session: z.object({ version: text, cwd: text, model: text, scripted: z.boolean(), mode: text }),
    user: z.object({ text }),
    /** What the person said while the model was at work. */
    steer: z.object({ text }),
    request: z.object({ round: z.number(), model: text, messages: z.number(), tools: z.number() }),
    delta: z.object({ kind: z.enum(['text', 'reasoning']), text }),
    assistant: z.object({ text, finish: text, partial: z.boolean(), calls: z.array(z.object({ id, name: text, arguments: text })) }),
    // The parts go back to the model as they are, when the session goes on.
    reasoning: z.object({ text, parts: z.array(z.object({ text, at: z.number().optional(), provider: z.json().optional() })).optional() }),
    'tool.call': z.object({ call: id, name: text, input: z.json() }),
    'tool.ask': z.object({ call: id, question: text, reason: text, rule: text.optional(), preview: text.optional() }),
    'tool.answer': z.object({ call: id, allowed: z.boolean(), by: z.enum(['person', 'nobody', 'cancel']) }),
    'tool.output': z.object({ call: id, text }),
    'tool.result': z.object({ call: id, name: text, text, isError: z.boolean(), ms: z.number(), spilled: text.optional(), data: z.json().optional() }),
    round: z.object({ round: z.number() }),
    retry: z.object({ reason: text, attempt: z.number(), partial: text }),
    fault: z.object({ plugin: text.optional(), where: text, kind: text, cause: text, action: text, next: text, line: text }),
    usage: z.object({ inputTokens: z.number().optional(), outputTokens: z.number().optional(), cacheReadTokens: z.number().optional() }),
    notice: z.object({ level: z.enum(['info', 'warn', 'error']), text }),
    stop: z.object({
      reason: z.enum(['answered', 'done', 'failed', 'rounds', 'cancelled', 'error']),
      code: z.number(),
      text,
      evidence: z.array(id).optional(),
    }),
  } as const;
}

type Shapes = ReturnType<typeof shapes>;

export type EventType = keyof Shapes;
export type EventData<Type extends EventType> = z.output<Shapes[Type]>;

/** `seq` has no gaps; `parent` makes the records a tree; `t` is milliseconds since the epoch. */
export type Event = {
  [Type in EventType]: {
    readonly v: 1;
    readonly id: string;
    readonly parent: string | null;
    readonly seq: number;
    readonly t: number;
    readonly session: string;
    readonly type: Type;
    readonly data: EventData<Type>;
  };
}[EventType];

export function eventSchema() {
  const id = z.string();
  const envelope = { v: z.literal(1), id, parent: id.nullable(), seq: z.int().nonnegative(), t: z.number(), session: id };
  const variants = Object.entries(shapes()).map(([type, shape]) => z.object({ ...envelope, type: z.literal(type), data: shape }));
  return z.discriminatedUnion('type', variants as [(typeof variants)[number], ...typeof variants]);
}

/** The log's record as JSON Schema, for readers in other languages. */
export function eventJsonSchema(): unknown {
  return z.toJSONSchema(eventSchema());
}
