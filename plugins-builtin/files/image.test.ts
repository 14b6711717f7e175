import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { readImageHeader } from './image-header.ts';
import { readFile } from './read-file.ts';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAD0lEQVR4nGNgwAH+w0kAEfMB/0Q9ptsAAAAASUVORK5CYII=', 'base64');
const gif = Buffer.from('R0lGODlhAwACAIAAAAAAAP///yH5BAAAAAAALAAAAAADAAIAAAIChF8AOw==', 'base64');
const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc000110800020003030122000211010311 01ffd9'.replaceAll(' ', ''), 'hex');
const riff = (chunk: string, payload: string): Buffer =>
  Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.from(chunk), Buffer.from('00000000', 'hex'), Buffer.from(payload, 'hex'), Buffer.alloc(16)]);

test.each([
  ['PNG', png, 'image/png'],
  ['GIF', gif, 'image/gif'],
  ['JPEG', jpeg, 'image/jpeg'],
  ['WebP', riff('VP8 ', '0000009d012a03000200'), 'image/webp'],
  ['WebP', riff('VP8L', '2f02400000'), 'image/webp'],
  ['WebP', riff('VP8X', '00000000020000010000'), 'image/webp'],
])('recognises %s and reads its size', (label, bytes, mediaType) => {
  expect(readImageHeader(bytes)).toEqual({ label, mediaType, size: { width: 3, height: 2 } });
});

test('returns an image, recognised by content and not by name', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'picture.txt'), png);
  const result = await workspace.run(readFile, { path: 'picture.txt' });
  expect(result.text).toBe('picture.txt: PNG image, 3x2 pixels, 71 bytes.');
  expect(result.images).toEqual([{ mediaType: 'image/png', base64: png.toString('base64') }]);
});

test.each([
  ['damaged', png.subarray(0, 20), /header is damaged/],
  ['too large', Buffer.concat([png, Buffer.alloc(5_000_000)]), /images above 5\.0 MB are not shown/],
])('does not return a %s image', async (_, bytes, text) => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.png'), bytes);
  expect(await workspace.run(readFile, { path: 'a.png' })).toEqual({ text: expect.stringMatching(text), isError: true });
});
