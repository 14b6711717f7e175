import { expect, test } from 'vitest';
import { alignRows, keepEnd, shortPath, wrap } from './layout.ts';

test('colour does not count as width', () => {
  const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
  expect(alignRows([[{ text: 'a', paint: red }, { text: 'x' }], [{ text: 'long' }, { text: 'y' }]])).toEqual(['\u001b[31ma   \u001b[39m  x', 'long  y']);
});

test('text is broken between words, and a long word is kept whole', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('a /very/long/path b', 6)).toEqual(['a', '/very/long/path', 'b']);
});

test('the end of a path is kept', () => {
  expect(keepEnd('/a/b/c', 6)).toBe('/a/b/c');
  expect(keepEnd('/a/b/c', 4)).toBe('…b/c');
  expect(keepEnd('/a/b/c', 4)).toHaveLength(4);
});

test('the home folder is written as ~', () => {
  expect(shortPath('/home/ada/x', '/home/ada')).toBe('~/x');
  expect(shortPath('/home/ada', '/home/ada')).toBe('~');
  expect(shortPath('/home/adam', '/home/ada')).toBe('/home/adam');
  expect(shortPath('/x', '')).toBe('/x');
});
