import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { boundedText } from './bounded-text.ts';
import { textStream } from './output-text.ts';
import { spillFile } from './spill-file.ts';
import { type Workspace, workspace } from './tool-call.testing.ts';

let place: Workspace;
beforeEach(() => {
  place = workspace();
});
afterEach(async () => {
  await place.remove();
  expect(place.processes()).toEqual([]);
});

const firstLine = (text: string): string | undefined => text.split('\n')[0];

describe('bytes to text', () => {
  it('replaces one bad byte and joins a character split by a pause', async () => {
    const { text } = await place.run({ command: "printf 'A\\xf0B\\xe3\\x81'; sleep 0.3; printf '\\x82C\\n'" });
    expect(firstLine(text)).toBe('A\uFFFDBあC');
    expect(place.shown.join('')).toBe('A\uFFFDBあC\n');
  });

  it('joins 70,000 characters with a pause in the middle of one', async () => {
    const { text } = await place.run({
      command: "node -e \"const b = Buffer.from('あ'.repeat(70000)); process.stdout.write(b.subarray(0, 100000)); setTimeout(() => process.stdout.write(b.subarray(100000)), 100)\"",
    });
    expect(text).not.toContain('\uFFFD');
    const file = /full output: (.+), 210000 bytes/.exec(text)?.[1] ?? '';
    expect(readFileSync(file, 'utf8')).toBe('あ'.repeat(70_000));
  });

  it('strips colours, shows NUL, and keeps the rest', async () => {
    const { text } = await place.run({ command: "printf '\\033[1;31mred\\033[0m \\033]0;title\\007\\0 \\xef\\xbb\\xbf \\xed\\xa0\\xbd tab\\t.\\n'" });
    expect(firstLine(text)).toBe('red \u2400 \ufeff \ufffd\ufffd\ufffd tab\t.');
    expect(text.isWellFormed()).toBe(true);
  });

  it('is the same however the bytes are cut', () => {
    const bytes = Buffer.from('\u001b[31mあ\u001b[0m\u001b]8;;http://x\u001b\\link\u001b(B😀\u001b[2K end\u001b[');
    for (let size = 1; size <= bytes.length; size += 1) {
      const stream = textStream();
      let text = '';
      for (let at = 0; at < bytes.length; at += size) text += stream.push(bytes.subarray(at, at + size));
      expect(text + stream.end()).toBe('あlink😀 end[');
    }
  });

  it('does not wait for ever for the end of a sequence', () => {
    const stream = textStream();
    const text = `\u001b]${'x'.repeat(5_000)}`;
    expect(stream.push(Buffer.from(text))).toBe(text.slice(1));
  });
});

describe('large output', () => {
  it('is shown head and tail, and kept whole in a file for its owner alone', async () => {
    const { text } = await place.run({ command: 'seq 1 40000' });
    const whole = Array.from({ length: 40_000 }, (_, index) => `${index + 1}\n`).join('');
    expect(text.startsWith('1\n2\n3\n')).toBe(true);
    expect(text).toMatch(/\n39999\n40000\n\[full output: .+, 228894 bytes\]\n\(exit code 0/);
    expect(Buffer.byteLength(text)).toBeLessThan(51_000);

    const [, omitted] = /\n\[… (\d+) bytes not shown …\]\n/.exec(text) ?? [];
    const shown = text.replace(/\n\[….+\]\n/, '').replace(/\[full[^]+$/, '').trimEnd();
    expect(Number(omitted) + Buffer.byteLength(shown) + 1).toBe(whole.length);

    const file = /full output: (.+),/.exec(text)?.[1] ?? '';
    expect(readFileSync(file, 'utf8')).toBe(whole);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(place.session.spillFolder).mode & 0o777).toBe(0o700);
  });

  it('is shown whole while it fits, without a file', async () => {
    const { text } = await place.run({ command: 'head -c 49999 /dev/zero | tr "\\0" x' });
    expect(text).toMatch(/^x{49999}\n\(exit code 0/);
  });

  it('without end stays within bounds', async () => {
    const before = process.memoryUsage.rss();
    const { text } = await place.run({ command: 'yes', timeout: 1 });
    expect(text).toContain('timed out after 1 s');
    expect(Buffer.byteLength(text)).toBeLessThan(52_000);
    expect(place.shown.length).toBeLessThan(40);
    expect(place.shown.join('').length).toBeLessThan(150_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(150_000_000);
    const file = /full output: (.+?),/.exec(text)?.[1] ?? '';
    expect(statSync(file).size).toBeLessThanOrEqual(100_000_000);
  });

  it('is cut between characters', () => {
    for (let units = 0; units < 4; units += 1) {
      const kept = boundedText(100, 100);
      kept.push('x'.repeat(units));
      for (let count = 0; count < 500; count += 1) kept.push('😀');
      const text = kept.toString();
      expect(text).not.toContain('\uFFFD');
      expect(text.isWellFormed()).toBe(true);
      const [head = '', omitted, tail = ''] = text.split(/\n\[… (\d+) bytes not shown …\]\n/);
      expect(Buffer.byteLength(head) + Number(omitted) + Buffer.byteLength(tail)).toBe(units + 2_000);
    }
  });
});

describe('the file', () => {
  it('ends at its limit and says so', () => {
    const file = spillFile(place.session.spillFolder, 'small', 10);
    file.write(Buffer.from('0123456789'));
    expect(file.gap).toBeUndefined();
    file.write(Buffer.from('more'));
    expect(file.gap).toBe('the file ends after 10 bytes');
    file.close();
    expect(readFileSync(file.path, 'utf8')).toBe('0123456789');
  });

  it('that cannot be written is told, not thrown', async () => {
    writeFileSync(place.session.spillFolder, 'in the way');
    const { text, isError } = await place.run({ command: 'seq 1 20000' });
    expect(text).toMatch(/\n20000\n\[full output: .+, not all of 108894 bytes: E\w+: .+\]\n\(exit code 0/);
    expect(isError).toBe(false);
  });
});
