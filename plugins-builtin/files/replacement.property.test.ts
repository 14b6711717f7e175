/** An edit changes exactly the intended bytes, whatever the file holds. */
import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replaceText } from './replacement.ts';

const anyBytes = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
const text = fc.string({ unit: 'grapheme', maxLength: 60 }).map((value) => Buffer.from(value, 'utf8'));
/** Not in any generated prefix or suffix, so that it occurs once. */
const needle = '<<old text>>';
const asciiText = fc.string({ unit: 'grapheme-ascii', maxLength: 40 });

const withoutNewlines = (bytes: Buffer): boolean => !bytes.includes(needle) && !bytes.includes('\r\n');
const hasUtf16Mark = (bytes: Buffer): boolean => (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);

const request = (oldText: string, newText: string, replaceAll = false) => ({ path: 'a', oldText, newText, replaceAll });

test('every byte outside the replaced text stays, in files that are no text at all', () => {
  fc.assert(
    fc.property(anyBytes.filter(withoutNewlines), anyBytes.filter(withoutNewlines), asciiText, (before, after, replacement) => {
      const file = Buffer.concat([before, Buffer.from(needle), after]);
      fc.pre(!hasUtf16Mark(file));
      expect(replaceText(file, request(needle, replacement)).bytes).toEqual(Buffer.concat([before, Buffer.from(replacement), after]));
    }),
  );
});

test('replacing all equals joining the pieces', () => {
  fc.assert(
    fc.property(fc.array(anyBytes.filter(withoutNewlines), { minLength: 2, maxLength: 6 }), asciiText, (pieces, replacement) => {
      const join = (separator: string): Buffer => Buffer.concat(pieces.flatMap((piece, index) => (index === 0 ? [piece] : [Buffer.from(separator), piece])));
      const file = join(needle);
      fc.pre(!hasUtf16Mark(file));
      expect(replaceText(file, request(needle, replacement, true)).bytes).toEqual(join(replacement));
    }),
  );
});

test('text beyond ASCII is replaced in UTF-8 files, in UTF-16 files, and with a mark', () => {
  const unicode = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((value) => !/[\r\n\uFEFF]/.test(value));
  const encode = fc.constantFrom<(value: string) => Buffer>(
    (value) => Buffer.from(value),
    (value) => Buffer.from(`\uFEFF${value}`),
    (value) => Buffer.from(`\uFEFF${value}`, 'utf16le'),
    (value) => Buffer.from(`\uFEFF${value}`, 'utf16le').swap16(),
  );
  fc.assert(
    fc.property(encode, unicode, unicode, unicode, unicode, (encoded, before, oldText, newText, after) => {
      const file = before + oldText + after;
      fc.pre(oldText !== newText && file.indexOf(oldText) === before.length && file.lastIndexOf(oldText) === before.length);
      expect(replaceText(encoded(file), request(oldText, newText)).bytes).toEqual(encoded(before + newText + after));
    }),
  );
});

test('whatever is asked, the answer is an exact edit or a refusal', () => {
  fc.assert(
    fc.property(fc.oneof(anyBytes, text), fc.string({ unit: 'binary', maxLength: 4 }), fc.string({ unit: 'binary', maxLength: 4 }), fc.boolean(), (file, oldText, newText, all) => {
      let edited: Buffer;
      try {
        edited = replaceText(file, request(oldText, newText, all)).bytes;
      } catch (error) {
        expect(error).toHaveProperty('name', 'OperationalError');
        return;
      }
      expect(edited.equals(file)).toBe(false);
      if (isUtf8(file)) expect(isUtf8(edited)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
