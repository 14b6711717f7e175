/** Taking keys out of a file: nothing else of it changes. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { without } from './tree.ts';
import { unsetConfigValue } from './unset.ts';

const file = join(mkdtempSync(join(tmpdir(), 'unset-')), 'config.yaml');

function unset(text: string, key: string): { done: boolean; text: string } {
  writeFileSync(file, text);
  const done = unsetConfigValue(file, key);
  return { done, text: readFileSync(file, 'utf8') };
}

test.each([
  ['a line', '# top\nmodel: a/b # mine\n\n# rounds\nreact:\n  max_rounds: 5\n', 'model', '# top\n\n# rounds\nreact:\n  max_rounds: 5\n'],
  ['one of several', 'react:\n  # why\n  max_rounds: 5\n  enabled: true   # kept\n', 'react.max_rounds', 'react:\n  # why\n  enabled: true   # kept\n'],
  ['the last of a map, and the map', 'model: a\nreact:\n  max_rounds: 5\ntheme: x\n', 'react.max_rounds', 'model: a\ntheme: x\n'],
  ['a map', 'model: a\nproviders:\n  lab:\n    base_url: x\n  # other\n  two: { base_url: "y" }\n', 'providers.lab', 'model: a\nproviders:\n  # other\n  two: { base_url: "y" }\n'],
  ['a list', 'list:\n  - a\n  - b\n# end\nmodel: a\n', 'list', '# end\nmodel: a\n'],
  ['a block of text', 'text: |\n  one\n\n  two\nmodel: a\n', 'text', 'model: a\n'],
  ['the only one', 'model: a\n', 'model', ''],
  ['the last without a newline', 'a: 1\nb: 2', 'b', 'a: 1\n'],
  ['with Windows line ends and a mark', '\uFEFFa: 1\r\nb: 2\r\nc: 3\r\n', 'b', '\uFEFFa: 1\r\nc: 3\r\n'],
  ['in one line with others', '# x\nproviders: { a: { k: 1 }, b: { k: 2 } }\n', 'providers.a', '# x\nproviders: { b: { k: 2 } }\n'],
  ['without a value', 'model:\nreact:\n', 'model', 'react:\n'],
])('%s', (_, before, key, after) => {
  expect(unset(before, key)).toEqual({ done: before !== after, text: after });
});

test('what is not there changes nothing, not even the format', () => {
  const text = 'a:   {x:   1}\n#c\n';
  expect(unset(text, 'a.y')).toEqual({ done: false, text });
  expect(unset(text, 'b')).toEqual({ done: false, text });
});

test('any file: the key goes, everything else and every comment stays', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const { tree } = fc.letrec<{ tree: Record<string, unknown>; value: unknown }>((tie) => ({
    tree: fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
    value: fc.oneof({ depthSize: 'small' }, fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }), tie('tree')),
  }));
  fc.assert(
    fc.property(tree, fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), (written, steps) => {
      const path: string[] = [];
      for (let level: unknown = written; typeof level === 'object' && level !== null && !Array.isArray(level) && path.length < steps.length; level = (level as Record<string, unknown>)[path.at(-1) ?? '']) {
        const keys = Object.keys(level);
        if (keys.length === 0) break;
        path.push(keys[(steps[path.length] ?? 0) % keys.length] ?? '');
      }
      const lines = stringify(written).split('\n');
      // A comment before every top-level key, where none can be taken for text of a block.
      const text = lines.flatMap((line, index) => (/^[a-d]:/.test(line) ? [`# note ${index}`, line] : [line])).join('\n');
      const { text: after } = unset(text, path.join('.'));
      let expected = without(written, path);
      for (let above = path.slice(0, -1); above.length > 0; above = above.slice(0, -1)) {
        const held = above.reduce<unknown>((level, key) => (level as Record<string, unknown>)[key], expected) as object;
        if (Object.keys(held).length === 0) expected = without(expected, above);
      }
      expect(parse(after) ?? {}).toEqual(expected);
      const comments = (from: string): string[] => from.split('\n').filter((line) => line.startsWith('# note'));
      expect(comments(after)).toEqual(comments(text));
    }),
    { numRuns: 300 },
  );
});
