/** Random values that fit a JSON Schema: the same ones for the same seed. */
import type { Json } from '../public.ts';

/** The part of JSON Schema that zod writes. */
export interface Schema {
  readonly [key: string]: unknown;
}

/** Uniform in [0, 1); mulberry32 by Tommy Ettinger, public domain. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Texts that break what is careless: empty, long, of other scripts, meaningful to shells, paths, patterns and formats. */
export const texts: readonly string[] = ['Ada', '', ' ', 'a b', 'naïve 日本語 👩‍👩‍👧', '../../outside', '/', '-rf', '__proto__', 'constructor', '$& $1 %s {0}', "'; --", '<b>&amp;</b>', '[(*+?', '\u0000\u001b[31m\u202e', 'line\r\nline\n', '{"a":', 'x'.repeat(10_000)];

const formats: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-31T12:00:00Z', '1969-12-31T23:59:59.999Z'],
  date: ['2026-02-28', '1970-01-01'],
  time: ['23:59:59', '00:00:00'],
  duration: ['P1D', 'PT1S'],
  email: ['ada@example.test'],
  uri: ['http://127.0.0.1:9/', 'https://example.test/a?b=c#d'],
  uuid: ['123e4567-e89b-42d3-a456-426614174000'],
  ipv4: ['127.0.0.1'],
  ipv6: ['::1'],
};
const numbers: readonly number[] = [0, 1, -1, 2, 10, 1_000, 0.5, -0.5, 2 ** 31, -(2 ** 31), Number.MAX_SAFE_INTEGER, 1e-9];
const maxDepth = 6;
const maxItems = 4;

/** @param root the whole schema, which `$ref` points into */
export function randomInput(schema: Schema, random: () => number, root: Schema = schema, depth = 0): Json {
  const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const inner = (part: unknown): Json => randomInput((part ?? {}) as Schema, random, root, depth + 1);
  const { $ref, enum: values, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') return depth > maxDepth * 2 ? null : inner(resolve($ref, root));
  if ('const' in schema) return schema['const'] as Json;
  if (Array.isArray(values)) return among(values as Json[]);
  const choices = (anyOf ?? oneOf) as readonly Schema[] | undefined;
  if (choices?.length) return inner(depth > maxDepth ? choices.at(-1) : among(choices));
  if (Array.isArray(allOf)) return Object.assign({}, ...(allOf as Schema[]).map(inner)) as Json;
  const type = Array.isArray(schema['type']) ? among(schema['type'] as string[]) : schema['type'];
  switch (type) {
    case 'object':
      return randomObject(schema, random, inner, depth);
    case 'array': {
      const fixed = ((schema['prefixItems'] ?? []) as Schema[]).map(inner);
      const { minItems = 0, maxItems: most = Number(minItems) + maxItems } = schema as { minItems?: number; maxItems?: number };
      const more = fixed.length > 0 && schema['items'] === undefined ? 0 : Math.max(0, Math.min(minItems + Math.floor(random() * maxItems), most) - fixed.length);
      return [...fixed, ...Array.from({ length: depth > maxDepth ? Math.max(0, minItems - fixed.length) : more }, () => inner(schema['items']))];
    }
    case 'string':
      return randomText(schema, among);
    case 'integer':
    case 'number':
      return randomNumber(schema, type === 'integer', among, random);
    case 'boolean':
      return random() < 0.5;
    case 'null':
      return null;
    default:
      return among<Json>([null, true, 1, 'text', [], {}, { a: [1, { b: null }] }]);
  }
}

function randomObject(schema: Schema, random: () => number, inner: (part: unknown) => Json, depth: number): Json {
  const required = (schema['required'] ?? []) as string[];
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const chosen = properties.filter(([name]) => required.includes(name) || (depth <= maxDepth && random() < 0.6));
  const rest = schema['additionalProperties'];
  const named = typeof rest === 'object' && rest !== null && depth <= maxDepth ? Array.from({ length: Math.floor(random() * 3) }, (_, at) => [`key${at}`, inner(rest)] as const) : [];
  return Object.fromEntries([...chosen.map(([name, part]) => [name, inner(part)] as const), ...named]);
}

function randomText(schema: Schema, among: <T>(values: readonly T[]) => T): string {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema as { minLength?: number; maxLength?: number; pattern?: string; format?: string };
  const known = format === undefined ? undefined : formats[format];
  if (known) return among(known);
  // JSON Schema counts code points.
  const fitted = texts.map((text) => [...text, ...'a'.repeat(Math.max(0, minLength - [...text].length))].slice(0, maxLength).join(''));
  if (pattern === undefined) return among(fitted);
  const fits = patternOf(pattern);
  const matching = [...fitted, 'a', 'A', '0', '1', 'a1', 'a-b', '2026-01-01', '#ffffff', '1.0.0', 'a.txt'].filter((text) => text.length >= minLength && text.length <= maxLength && fits.test(text));
  return matching.length > 0 ? among(matching) : among(fitted);
}

/** JSON Schema has Unicode patterns; those that zod writes need not be. */
function patternOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}

function randomNumber(schema: Schema, whole: boolean, among: <T>(values: readonly T[]) => T, random: () => number): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf: step } = schema as { [key in 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf']?: number };
  const least = minimum ?? (exclusiveMinimum === undefined ? -Number.MAX_SAFE_INTEGER : exclusiveMinimum + (whole ? 1 : Number.EPSILON * Math.max(1, Math.abs(exclusiveMinimum))));
  const most = maximum ?? (exclusiveMaximum === undefined ? Number.MAX_SAFE_INTEGER : exclusiveMaximum - (whole ? 1 : Number.EPSILON * Math.max(1, Math.abs(exclusiveMaximum))));
  const fitting = [...numbers, least, most].filter((one) => one >= least && one <= most && (!whole || Number.isInteger(one)) && (step === undefined || Number.isInteger(one / step)));
  if (fitting.length > 0 && random() < 0.8) return among(fitting);
  const [from, to] = [Math.max(least, -1_000), Math.min(most, 1_000)];
  const unit = step ?? (whole ? 1 : 0);
  const value = from <= to ? from + random() * (to - from) : least;
  return unit === 0 ? value : Math.min(Math.ceil(value / unit) * unit, Math.floor(most / unit) * unit);
}

function resolve(ref: string, root: Schema): unknown {
  return ref.split('/').slice(1).reduce<unknown>((at, key) => (at as Schema | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], root);
}
