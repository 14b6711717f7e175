import { describe, expect, test } from 'vitest';
import { displayWidth, shellWord, shortPath, wrap } from './text.ts';

describe('wrap', () => {
  test('breaks between words, and keeps a long one whole', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a /very/long/path b', 6)).toEqual(['a', '/very/long/path', 'b']);
    expect(wrap('/very/long/path', 6)).toEqual(['/very/long/path']);
    expect(wrap('one two', Infinity)).toEqual(['one two']);
  });

  test('what is broken goes on under its text, or at the margin', () => {
    expect(wrap('agent: one two', 10, 2)).toEqual(['agent: one', '  two']);
    expect(wrap('  a hint that is long', 12, 2)).toEqual(['  a hint', '  that is', '  long']);
    expect(wrap('  - one way of it', 10)).toEqual(['  - one', '    way of', '    it']);
    expect(wrap('⚠ /very/long/path of it', 8)).toEqual(['⚠ /very/long/path', '  of it']);
  });

  test('keeps the lines there are, and the blanks within them', () => {
    expect(wrap('\nshort\nexport A=1  for it', 12, 2)).toEqual(['', 'short', 'export A=1', '  for it']);
    expect(wrap('a  b', 20)).toEqual(['a  b']);
  });

  test('measures columns: wide characters count twice, styling not at all', () => {
    expect(wrap('日本 日本', 8)).toEqual(['日本', '日本']);
    expect(wrap('\u001b[33m⚠ one two three\u001b[39m', 9, 2)).toEqual(['\u001b[33m⚠ one two', '  three\u001b[39m']);
    expect(wrap('\u001b[2m  one two\u001b[22m', 6)).toEqual(['\u001b[2m  one', '  two\u001b[22m']);
  });

  test('no line is wider than asked, as long as its words are not', () => {
    const words = Array.from({ length: 60 }, (_, n) => 'x'.repeat(1 + ((n * 7) % 9)));
    for (const columns of [12, 20, 33]) for (const line of wrap(words.join(' '), columns, 2)) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    expect(wrap(words.join(' '), 20, 2).map((line) => line.trim()).join(' ')).toBe(words.join(' '));
  });
});

test('the home folder is written as ~', () => {
  expect(shortPath('/home/ada/x', '/home/ada')).toBe('~/x');
  expect(shortPath('/home/ada', '/home/ada')).toBe('~');
  expect(shortPath('/home/adam', '/home/ada')).toBe('/home/adam');
  expect(shortPath('/x', '')).toBe('/x');
});

test('a word for a shell', () => {
  expect(['../p', 'a b', "it's", ''].map(shellWord)).toEqual(['../p', "'a b'", "'it'\\''s'", "''"]);
});
