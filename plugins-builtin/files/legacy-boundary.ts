/**
 * Files that are neither UTF-8 nor UTF-16: nothing says which legacy encoding they have, and in Shift-JIS, GBK, Big5 and
 * GB18030 the second byte of a character may look like ASCII. An ASCII match there would tear a character apart.
 */

type IsLead = (byte: number) => boolean;

const isShiftJisLead: IsLead = (byte) => (byte >= 0x81 && byte <= 0x9f) || (byte >= 0xe0 && byte <= 0xfc);
const isGbkLead: IsLead = (byte) => byte >= 0x81 && byte <= 0xfe;

/** True when `index` in `latin1` may be the second byte of a character in one of these encodings. */
export function mayBeInsideCharacter(latin1: string, index: number): boolean {
  // A newline is never the second byte, so parsing may begin at the line.
  const lineStart = latin1.lastIndexOf('\n', index - 1) + 1;
  return isSecondByte(latin1, lineStart, index, isShiftJisLead) || isSecondByte(latin1, lineStart, index, isGbkLead);
}

function isSecondByte(latin1: string, lineStart: number, index: number, isLead: IsLead): boolean {
  let at = lineStart;
  while (at < index) {
    const isPair = isLead(latin1.charCodeAt(at)) && isTrail(latin1.charCodeAt(at + 1));
    at += isPair ? 2 : 1;
  }
  return at > index;
}

/** GB18030's four-byte characters are two pairs, the second bytes of which are digits. */
function isTrail(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x40 && byte !== 0x7f);
}
