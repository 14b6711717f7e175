/** Random inputs fit the schema they are made from, and are the same for the same seed. */
import { z } from 'newt-agent';
import { expect, test } from 'vitest';
import { fitting } from './payloads.ts';
import { agentHooks } from '../public.ts';
import { randomInput, type Schema, seededRandom } from './random-input.ts';

const shapes = {
  texts: z.object({ any: z.string(), short: z.string().max(3), long: z.string().min(20), word: z.string().regex(/^[a-z]+$/), name: z.string().regex(/^[\w\-.\#]+$/), url: z.url(), mail: z.email(), id: z.uuid(), at: z.iso.datetime(), day: z.iso.date() }),
  numbers: z.object({ any: z.number(), int: z.int(), small: z.int().min(1).max(5), between: z.number().gt(0).lt(1), step: z.number().multipleOf(5).min(0).max(100) }),
  choices: z.discriminatedUnion('kind', [z.object({ kind: z.literal('a'), n: z.number() }), z.object({ kind: z.literal('b'), s: z.enum(['x', 'y']).nullable() })]),
  lists: z.object({ some: z.array(z.boolean()).min(2).max(3), pair: z.tuple([z.string(), z.number()]), map: z.record(z.string(), z.int()), maybe: z.string().optional(), filled: z.number().default(3), json: z.json() }),
  tree: z.object({ get children() { return z.array(shapes.leaf).optional(); } }),
  leaf: z.strictObject({ both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })) }),
};

test.each(Object.keys(shapes) as (keyof typeof shapes)[])('of %s', (name) => {
  const schema = z.toJSONSchema(shapes[name], { io: 'input', unrepresentable: 'any' }) as Schema;
  const make = (seed: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: 200 }, () => randomInput(schema, random));
  };
  for (const input of make(3)) expect(shapes[name].safeParse(input).error?.issues ?? []).toEqual([]);
  expect(make(3)).toEqual(make(3));
  if (name !== 'tree') expect(make(3)).not.toEqual(make(4));
});

test('every hook of the agent has payloads, and they are of its type', () => {
  for (const spec of agentHooks) {
    const payloads = fitting(spec.name);
    expect(payloads.length).toBeGreaterThan(5);
    if (spec.kind === 'waterfall') for (const { what, payload } of payloads) expect([what, spec.check?.(payload)]).toEqual([what, true]);
  }
});
