/** What hooks are fed: payloads of the right type that hold extremes, and payloads of no type at all. */
import type { HookMap, HookName, Json } from '../public.ts';
import { texts } from './random-input.ts';

export interface Fed {
  /** In words: `an empty payload`. */
  readonly what: string;
  readonly payload: Json;
}

const about = { session: 'session-1', cwd: '/workspace' };
const use = { session: 'session-1', call: 'call-1', name: 'hello', input: { name: 'Ada' } };
const outcome = { ...use, text: 'Hello, Ada!', isError: false };

/** One payload of each hook, as the agent sends it. */
const typical: { readonly [Name in HookName]?: HookMap[Name]['payload'] } = {
  'session.start': about,
  'session.end': { ...about, reason: 'closed' },
  'input.submit': { ...about, text: 'greet Ada' },
  'prompt.build': { cwd: '/workspace', sections: [{ id: 'role', text: 'You are Newt.' }] },
  'turn.start': { ...about, round: 1 },
  'turn.end': { ...about, round: 1 },
  'model.request': { session: 'session-1', round: 1, model: 'scripted/test', messages: [{ role: 'system', content: 'You are Newt.' }, { role: 'user', content: [{ type: 'text', text: 'greet Ada' }] }], tools: [{ name: 'hello', description: 'Greet.', inputSchema: { type: 'object' } }] },
  'model.delta': { session: 'session-1', kind: 'text', text: 'Hel' },
  'model.response': { session: 'session-1', round: 1, text: 'Hello', reasoning: '', calls: [{ id: 'call-1', name: 'hello', arguments: '{"name":"Ada"}' }], finish: 'tool-calls' },
  'model.error': { session: 'session-1', message: 'overloaded', status: 529, attempt: 1 },
  'tool.gate': { ...use, effect: 'write', paths: [{ given: 'a.txt', real: '/workspace/a.txt', access: 'write', inWorkspace: true, inAgentFolder: false }] },
  'tool.before': use,
  'tool.after': outcome,
  'tool.error': { ...outcome, text: 'no such file', isError: true },
  'agent.stop': { ...about, reason: 'answered' },
  notify: { ...about, about: 'stop', text: 'done' },
};

/** Members that may hold any text; the others are names and numbers that the agent itself chooses. */
const free: ReadonlySet<string> = new Set(['text', 'message', 'content', 'description', 'arguments', 'reasoning', 'given']);
/** Members that may hold any JSON. */
const anything: ReadonlySet<string> = new Set(['input', 'data']);
const long = 200_000;
const many = 500;

/** Payloads of the type of `hook`; none for a hook that the agent does not define. */
export function fitting(hook: string): Fed[] {
  const payload = (typical as Record<string, unknown>)[hook] as Json | undefined;
  if (payload === undefined) return [];
  return [
    { what: 'a usual payload', payload },
    { what: 'a payload with empty texts and lists', payload: changed(payload, () => '', () => [], {}) },
    { what: 'a huge payload', payload: changed(payload, (text) => (text + 'x'.repeat(long)).slice(0, long), (list) => Array.from({ length: many }, () => list).flat(), Array.from({ length: many }, (_, at) => ({ at }))) },
    ...texts.slice(0, -1).map((odd) => ({ what: `a payload with the text ${JSON.stringify(odd)}`, payload: changed(payload, () => odd, (list) => list, odd) })),
    ...odd.map(({ what, payload: input }) => ({ what: `a payload whose input is ${what}`, payload: changed(payload, (text) => text, (list) => list, input) })),
    { what: 'a payload with members that a later version adds', payload: { ...(payload as object), extra: { later: [1] } } },
  ];
}

function changed(value: Json, text: (given: string) => string, list: (given: readonly Json[]) => readonly Json[], json: Json): Json {
  if (Array.isArray(value)) return list((value as readonly Json[]).map((one) => changed(one, text, list, json)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, anything.has(key) ? json : free.has(key) && typeof member === 'string' ? text(member) : changed(member ?? null, text, list, json)]));
}

function nested(depth: number): Json {
  let value: Json = 'deep';
  for (let at = 0; at < depth; at += 1) value = at % 2 ? [value] : { a: value };
  return value;
}

const shared: Json = { same: ['object'] };

/** JSON of every kind: for members that may hold anything, and for payloads of the wrong type. */
export const odd: readonly Fed[] = [
  { what: 'null', payload: null },
  { what: 'a number', payload: 7 },
  { what: 'a text', payload: 'text' },
  { what: 'a list', payload: [1, null, 'a'] },
  { what: 'an empty object', payload: {} },
  { what: 'nested 150 levels deep', payload: nested(150) },
  { what: 'full of one object', payload: { a: shared, b: [shared, shared], c: { shared } } },
];
