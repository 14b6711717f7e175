import { expect, test } from 'vitest';
import { factLines } from './layout.ts';

test('facts line up, and cannot steer a terminal', () => {
  expect(factLines([['id', 'a\u001b[2J'], ['version', '1']], { nameStyle: (name) => `<${name}>` })).toEqual(['  <id     >  a', '  <version>  1']);
});

test('a value that is too long goes on under itself', () => {
  expect(factLines([['id', 'one two three'], ['version', '1']], { columns: 18 })).toEqual(['  id       one two', '           three', '  version  1']);
});
