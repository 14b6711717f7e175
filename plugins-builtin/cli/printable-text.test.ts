/** The text functions of the agent API, which every channel shows foreign text with. */
import fc from 'fast-check';
import { createPrintableStream, displayWidth, printable, revealed, table, truncate } from 'newt-agent';
import { describe, expect, test } from 'vitest';

test.each([
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]0;title\u0007x\u001b]8;;http://a\u001b\\link\u001b]8;;\u001b\\', 'xlink'],
  ['\u009b2Jx\u009d52;c;eA\u009cy', 'xy'],
  ['\u001bPq data\u001b\\x', 'x'],
  ['\u001bc\u001b(Bx\u001b7', 'x'],
  ['a\r\nb\tc\u0008\u0000\u007f', 'a\nb\tc'],
  ['safe\u202etxt.exe\u2066', 'safetxt.exe'],
  ['\u001b]0;never ended', '0;never ended'],
  ['\u001b\u001b[0m[31mx', '[31mx'],
  ['👩‍👩‍👧 naïve 漢字', '👩‍👩‍👧 naïve 漢字'],
])('printable %j', (text, expected) => {
  expect(printable(text)).toBe(expected);
});

test('a stream shows what the whole text would show, wherever it is cut', () => {
  const piece = fc.string({ unit: fc.constantFrom('\u001b', '[', ']', 'P', '(', '0', ';', 'm', '\u0007', '\\', 'a', ' ', '\n', '\r', '\u009b', '\u009d', '\u009c', '漢', '\ud83d', '\ude00'), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const stream = createPrintableStream();
      expect(pieces.map((text) => stream.push(text)).join('') + stream.end()).toBe(printable(pieces.join('')));
    }),
  );
});

test('text that only began like a sequence is not held back for ever', () => {
  const stream = createPrintableStream();
  expect(stream.push(`\u001b]${'x'.repeat(5_000)}`)).toBe('x'.repeat(5_000));
});

test('what would not be seen is revealed', () => {
  expect(revealed('a\u001b[0m\u0000\u200b\u202e\u009b\tb\n')).toBe('a␛[0m␀<U+200B><U+202E><U+009B>\tb\n');
});

test.each([
  ['abc', 3],
  ['漢字', 4],
  ['한국', 4],
  ['ｆｕｌｌ', 8],
  ['👩‍👩‍👧', 2],
  ['❤️', 2],
  ['e\u0301', 1],
  ['\u001b[1mbold\u001b[0m', 4],
  ['…●⚠', 3],
])('%j is %d columns wide', (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test('cut text fits, and is cut between characters', () => {
  expect([truncate('abcdef', 6), truncate('abcdef', 5), truncate('漢字漢字', 5), truncate('漢字漢字', 4), truncate('ab', 0)]).toEqual(['abcdef', 'abcd…', '漢字…', '漢…', '']);
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, width) => displayWidth(truncate(text, width)) <= width));
});

describe('table', () => {
  const columns = [{ title: 'ID' }, { title: 'STATE' }, { title: 'PATH' }];

  test('columns are aligned, wide characters counted', () => {
    expect(table([['git', 'ok', '/a'], ['漢字', 'quarantined', '/b']], columns)).toBe(['ID    STATE        PATH', 'git   ok           /a', '漢字  quarantined  /b'].join('\n'));
  });

  test('the widest column gives way to the width of the terminal', () => {
    const text = table([['git', 'ok', `/home/${'x'.repeat(40)}`]], columns, { width: 24 });
    expect(text).toBe(['ID   STATE  PATH', 'git  ok     /home/xxxxx…'].join('\n'));
  });

  test('a cell is one line, and harmless', () => {
    expect(table([['a\nb\u001b[2J']], [{ title: 'X' }])).toBe('X\na b');
  });

  test('styles do not move anything', () => {
    const bracket = (text: string): string => `\u001b[1m${text}\u001b[22m`;
    expect(table([['a', 'b']], [{ title: 'LONG', style: bracket }, { title: 'Y' }], { titleStyle: bracket })).toBe('\u001b[1mLONG\u001b[22m  \u001b[1mY\u001b[22m\n\u001b[1ma\u001b[22m     b');
  });
});
