import { expect, test } from 'vitest';
import { questionText } from './question-text.ts';
import { styleFor } from './style.ts';

const plain = styleFor(false, {});
const question = { call: 'a', question: 'Allow write_file?', reason: 'writes a.ts' };

test('reason, preview, question', () => {
  expect(questionText({ ...question, preview: '--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-old\n+new\n' }, plain)).toBe(
    '  writes a.ts\n    --- a.ts\n    +++ a.ts\n    @@ -1 +1 @@\n    -old\n    +new\n  Allow write_file?',
  );
  expect(questionText(question, plain)).toBe('  writes a.ts\n  Allow write_file?');
});

test('sentences are broken to the width of the terminal, what is to be approved is not', () => {
  const long = 'word '.repeat(6).trim();
  expect(questionText({ ...question, reason: long, preview: long }, plain, 20)).toBe(`  word word word\n  word word word\n    ${long}\n  Allow write_file?`);
});

test('a diff is coloured, and a command that looks like one is not', () => {
  const coloured = styleFor(true, {});
  expect(questionText({ ...question, preview: '@@ -1 +1 @@\n-old\n+new' }, coloured)).toContain('    \u001b[36m@@ -1 +1 @@\u001b[39m\n    \u001b[31m-old\u001b[39m\n    \u001b[32m+new\u001b[39m\n');
  expect(questionText({ ...question, preview: '-x' }, coloured)).toContain('    -x\n');
});

test('a long preview says how much of it is not shown', () => {
  const lines = Array.from({ length: 63 }, (_, index) => `line ${index}`).join('\n');
  expect(questionText({ ...question, preview: lines }, plain).split('\n').slice(-3)).toEqual(['    line 59', '    … 3 more lines', '  Allow write_file?']);
});

test('what is to be approved cannot hide anything', () => {
  const preview = 'rm -rf /\r\u001b[2Kecho hi\u202e\u200b';
  expect(questionText({ ...question, preview }, plain)).toBe('  writes a.ts\n    rm -rf /␍␛[2Kecho hi<U+202E><U+200B>\n  Allow write_file?');
});
