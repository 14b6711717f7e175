/** From the bytes of one output stream to text a model can be shown. */

interface TextStream {
  /** The text that is complete with these bytes. */
  push(bytes: Uint8Array): string;
  /** What was held back for a continuation that never came. */
  end(): string;
}

const escape = '\u001b';
const csi = '\u009b';

/** ECMA-48: CSI sequences; strings (OSC, DCS, SOS, PM, APC) up to BEL or ST, within a line; then the short forms. */
// eslint-disable-next-line no-control-regex -- control characters are what is being removed
const controlSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|\u001b[ -/]+[0-~]|\u001b[0-OQ-WYZ\\`-~]/g;
// eslint-disable-next-line no-control-regex -- as above
const unfinishedSequence = /(?:(?:\u001b\[|\u009b)[0-?]*[ -/]*|\u001b[\]PX^_][^\u0007\u001b\n]*\u001b?|\u001b[ -/]*)$/;
const longestSequence = 4_096;

/**
 * Decodes UTF-8 (what is not UTF-8 becomes U+FFFD) and strips terminal control sequences; a character or
 * sequence may be split over any number of chunks. NUL becomes U+2400: some providers refuse it, and
 * dropping it would hide that the output is binary.
 */
export function textStream(): TextStream {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let held = '';

  const clean = (text: string): string => {
    if (!text.includes(escape) && !text.includes(csi)) return showNul(text);
    const stripped = text.replace(controlSequence, '');
    const unfinished = unfinishedSequence.exec(stripped);
    const complete = unfinished && stripped.length - unfinished.index <= longestSequence ? stripped.slice(0, unfinished.index) : stripped;
    held = stripped.slice(complete.length);
    return showNul(complete.replaceAll(escape, ''));
  };

  const take = (text: string): string => {
    const joined = held + text;
    held = '';
    return clean(joined);
  };

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end() {
      const text = take(decoder.decode());
      const rest = showNul(held.replaceAll(escape, ''));
      held = '';
      return text + rest;
    },
  };
}

function showNul(text: string): string {
  return text.replaceAll('\0', '\u2400');
}
