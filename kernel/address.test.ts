import { expect, it } from 'vitest';
import { shownAddress } from './address.ts';

it.each([
  ['http://h/v1?key=SECRET', 'http://h/v1'],
  ['http://user:p@ss@h:80/v1#SECRET', 'http://h:80/v1'],
  ['http://h/@scope/x', 'http://h/@scope/x'],
  ['not a url?SECRET', 'not a url'],
])('%s is shown as %s', (url, shown) => {
  expect(shownAddress(url)).toBe(shown);
});
