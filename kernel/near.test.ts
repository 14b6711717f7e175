import fc from 'fast-check';
import { expect, test } from 'vitest';
import { didYouMean, editDistance, nearest } from './near.ts';

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', 'abc', 0],
  ['abc', 'acb', 1],
  ['kitten', 'sitting', 3],
  ['ca', 'abc', 3],
])('the distance of "%s" and "%s" is %i', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
});

test('the distance is symmetric, zero for equals only, and never above the longer length', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      const distance = editDistance(a, b);
      expect(distance).toBe(editDistance(b, a));
      expect(distance === 0).toBe(a === b);
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});

test('the nearest candidate is found within a third of the letters, the first of equals', () => {
  expect(nearest('raect', ['render', 'react'])).toBe('react');
  expect(nearest('REACT', ['react'])).toBe('react');
  expect(nearest('ab', ['ac', 'ad'])).toBe('ac');
  expect(nearest('ab', ['xy'])).toBeUndefined();
  expect(nearest('max_ronds', ['max_rounds', 'max_bounds'])).toBe('max_rounds');
  expect(nearest('x', [])).toBeUndefined();
});

test('a message ends with the suggestion or with nothing', () => {
  expect(didYouMean('raect', ['react'])).toBe('; did you mean "react"?');
  expect(didYouMean('raect', [])).toBe('');
});
