import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KernelError } from './errors.ts';
import { freezeJson } from './json.ts';

function isFrozenDeep(value: unknown): boolean {
  return typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenDeep));
}

test('every JSON value is frozen all the way down, and is otherwise what it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const before = JSON.stringify(value);
      expect(freezeJson(value)).toBe(value);
      expect(isFrozenDeep(value)).toBe(true);
      expect(JSON.stringify(value)).toBe(before);
      expect(freezeJson(value)).toBe(value);
    }),
  );
});

class Point {
  readonly x = 1;
}
class Row extends Array<number> {}

const loop: Record<string, unknown> = {};
loop['self'] = { loop };

const rejected: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['a function', () => () => 1, /function/],
  ['a symbol', () => Symbol('x'), /symbol/],
  ['a bigint', () => 1n, /bigint/],
  ['NaN', () => NaN, /NaN/],
  ['Infinity', () => -Infinity, /Infinity/],
  ['a class instance', () => new Point(), /instance of Point/],
  ['a date', () => new Date(), /instance of Date/],
  ['a map', () => new Map(), /instance of Map/],
  ['a buffer', () => Buffer.from('x'), /instance of Buffer/],
  ['an error', () => new Error('x'), /instance of Error/],
  ['a promise', () => Promise.resolve(), /instance of Promise/],
  ['an array of a class of its own', () => Row.from([1]), /instance of Row/],
  ['a cycle', () => loop, /cycle/],
  ['an accessor', () => ({ get x() { return 1; } }), /accessor/],
  ['an accessor in an array', () => Object.defineProperty([1], 0, { get: () => 1 }), /accessor/],
  ['a symbol key', () => ({ [Symbol('x')]: 1 }), /symbol key/],
  ['what is nested too deep', () => JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)), /nesting/],
];

describe('what is no JSON value is refused, with the path of the offender', () => {
  const places: readonly (readonly [string, (value: unknown) => unknown, RegExp])[] = [
    ['by itself', (value) => value, /^the value/],
    ['in an object', (value) => ({ fine: 1, a: { b: value } }), /^a\.b/],
    ['in an array', (value) => ({ list: [1, [value]] }), /^list\.1\.0/],
  ];
  test.for(rejected.flatMap(([what, make, found]) => places.map(([place, wrap, path]) => ({ title: `${what} ${place}`, make, wrap, found, path }))))('$title', ({ title, make, wrap, found, path }) => {
    let error: unknown;
    try {
      freezeJson(wrap(make()));
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(KernelError);
    expect((error as KernelError).code).toBe('NOT_JSON');
    expect((error as KernelError).message).toMatch(found);
    // What is wrong with a member is told of the member.
    if (!/symbol key|cycle|nested|accessor/.test(title)) expect((error as KernelError).message).toMatch(path);
  });
});

test('objects without a prototype and values of other realms are plain too', () => {
  expect(freezeJson(runInNewContext('({ a: [1] })'))).toEqual({ a: [1] });
  expect(Object.isFrozen(freezeJson(Object.assign(Object.create(null) as object, { a: 1 })))).toBe(true);
});

test('the same value twice is no cycle', () => {
  const shared = { n: 1 };
  expect(freezeJson({ a: shared, b: [shared] })).toEqual({ a: { n: 1 }, b: [{ n: 1 }] });
});

test('absent members may be undefined', () => {
  expect(freezeJson({ a: undefined })).toEqual({ a: undefined });
});

test('what a plugin froze is looked at all the same, and what the kernel froze is not looked at again', () => {
  expect(() => freezeJson(Object.freeze({ a: { b: () => 1 } }))).toThrow(KernelError);
  const value = freezeJson({ a: { b: 1 } });
  expect(freezeJson({ value }).value).toBe(value);
});

describe('a Proxy', () => {
  const trap = (): never => {
    throw new Error('trap');
  };

  test.for(['getPrototypeOf', 'ownKeys', 'getOwnPropertyDescriptor', 'defineProperty', 'preventExtensions'] as const)('whose %s throws is refused', (name) => {
    expect(() => freezeJson({ a: new Proxy({ b: 1 }, { [name]: trap }) })).toThrow();
  });

  test('that refuses to be frozen is refused', () => {
    expect(() => freezeJson(new Proxy({ b: 1 }, { preventExtensions: () => false }))).toThrow();
  });

  test('that lies about what it holds is found out', () => {
    const target = { n: (): number => 1 };
    const liar = new Proxy(target, { getOwnPropertyDescriptor: (object, key) => (Object.isExtensible(object) ? { value: 1, writable: true, enumerable: true, configurable: true } : Reflect.getOwnPropertyDescriptor(object, key)) });
    expect(() => freezeJson({ a: liar })).toThrow(/function/);
  });

  test('that is passed is as fixed as any other value', () => {
    let reads = 0;
    const value = freezeJson(new Proxy({ n: 1 }, { get: (object, key) => (reads++, Reflect.get(object, key)) }));
    expect(() => Object.assign(value, { n: 2 })).toThrow(TypeError);
    expect(value.n).toBe(1);
  });
});
