import fc from 'fast-check';
import picomatch from 'picomatch';
import { expect, test } from 'vitest';
import { expandBraces } from './braces.ts';
import { globPattern } from './glob-pattern.ts';

const piece = fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[!a]', '[a-c]', '{a,b}', '{b,*.a}', '{a,{b,.b}c}', '\\*');
const patternSegment = fc.oneof(fc.constant('**'), fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')));
const pattern = fc.array(patternSegment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const name = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.', '*'), minLength: 1, maxLength: 4 }).filter((text) => !/^\.\.?$/.test(text)), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

test('matches what picomatch matches', () => {
  fc.assert(
    fc.property(pattern, name, (text, path) => {
      fc.pre(!text.split('/').some((part) => /^\.\.?$/.test(part)) && !text.includes('***') && expandBraces(text, 250) !== undefined);
      const { matches, mayMatchBelow } = globPattern(text, '/w', false);
      // To it `a/**` is also `a`, yet `*/**` is not.
      // And before braces a `**` that is part of a name crosses folders there, although it does not in `**a`, nor in a
      // shell: so it is asked about each alternative.
      const expected = (text.includes('**{') ? (expandBraces(text, 250) ?? []) : [text]).some((one) => picomatch(one.replace(/\/\*\*$/, '/**/*'), { dot: true, nonegate: true, posix: true })(path));
      expect(matches(path)).toBe(expected);
      const folders = path.split('/').slice(0, -1).map((_, index, all) => all.slice(0, index + 1).join('/'));
      if (expected) expect(folders.every(mayMatchBelow)).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

// What a shell with `globstar` finds.
test('two asterisks in a name, before braces too, stay within the folder', () => {
  const { matches } = globPattern('**{a,b}', '/w', false);
  expect(['xa', 'b', 'x/a'].map(matches)).toEqual([true, true, false]);
});

test.each([
  ['wildcards in a name', `${'*a'.repeat(12)}b`, 'a'.repeat(255)],
  ['as many as fit', `${'*a'.repeat(490)}b`, 'a'.repeat(255)],
  ['sets', `${'*[ab]?'.repeat(160)}c`, 'ab'.repeat(127)],
  ['folders', `${'**/a/'.repeat(190)}b`, `${'a/'.repeat(200)}a`],
  ['wildcards in folders', `${'**/*a*a*a/'.repeat(90)}b`, `${'aaaaaaaaaaaaaaaaaa/'.repeat(200)}a`],
  ['names that almost match', `*${'a'.repeat(127)}b`, 'a'.repeat(255)],
  ['the same with folders and braces', `${'{a,b}'.repeat(7)}**/*${'a'.repeat(127)}b/${'**/*a*aaaaaaaaaaaaaaaaaaaaaaaaaaab/'.repeat(20)}c`, `${'a'.repeat(255)}/`.repeat(16)],
  ['braces', `${'{*a*a,*b*a}'.repeat(7)}*c`, 'ab'.repeat(127)],
  ['braces that are text', '{'.repeat(1_000), '{'.repeat(255)],
])('no pattern takes long: %s', (_, text, path) => {
  const { matches } = globPattern(text, '/w', false);
  const begun = performance.now();
  expect(matches(path)).toBe(false);
  expect(performance.now() - begun).toBeLessThan(200);
});

test.each([
  ['too long', 'a'.repeat(1_001), /1001 characters long/],
  ['too many alternatives', '{a,b}'.repeat(12), /more than 250 patterns/],
  ['a range too long', '{1..9999}', /more than 250 patterns/],
  ['extended patterns', 'src/!(a|b).ts', /Write \{a,b\} for alternatives/],
])('what is not understood is refused: %s', (_, text, message) => {
  expect(() => globPattern(text, '/w', true)).toThrow(message);
});

test.each([
  ['{a,b}c', ['ac', 'bc']],
  ['{a,{b,c}}{1..3}', ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']],
  ['{c..a}', ['c', 'b', 'a']],
  ['{a}{,b}', ['{a}', '{a}b']],
  ['{a,b', ['{a,b']],
  ['{x{a,b}', ['{xa', '{xb']],
  ['\\{a,b}', ['\\{a,b}']],
])('braces: %s', (text, patterns) => {
  expect(expandBraces(text, 100)).toEqual(patterns);
});

test('parentheses are text, and named sets are known', () => {
  const matches = (text: string, path: string): boolean => globPattern(text, '/w', false).matches(path);
  expect(matches('app/(group)/*.tsx', 'app/(group)/page.tsx')).toBe(true);
  expect(matches('v[[:digit:]_]', 'v7')).toBe(true);
  expect(matches('v[[:digit:]_]', 'v_')).toBe(true);
  expect(matches('v[![:digit:]]', 'v7')).toBe(false);
  expect(matches('[]a]', ']')).toBe(true);
  expect(matches('[a', '[a')).toBe(true);
});
