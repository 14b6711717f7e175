import { expect, test } from 'vitest';
import { factLines, shortPath, wrap } from './layout.ts';

test('facts line up, and cannot steer a terminal', () => {
  expect(factLines([['id', 'a\u001b[2J'], ['version', '1']], (name) => `<${name}>`)).toEqual(['  <id     >  a', '  <version>  1']);
});

test('text is broken between words, and a long word is kept whole', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('a /very/long/path b', 6)).toEqual(['a', '/very/long/path', 'b']);
});

test('the home folder is written as ~', () => {
  expect(shortPath('/home/ada/x', '/home/ada')).toBe('~/x');
  expect(shortPath('/home/ada', '/home/ada')).toBe('~');
  expect(shortPath('/home/adam', '/home/ada')).toBe('/home/adam');
  expect(shortPath('/x', '')).toBe('/x');
});
