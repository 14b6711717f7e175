/** Public report B15: one U+FFFD for each bad sequence, whole characters across chunks, and nothing lost around them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { readFile as readTool } from './read-file.ts';
import { writeFile as writeTool } from './write-file.ts';

test('one bad byte is one replacement character', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), Buffer.from('41f042e381820a43e381', 'hex'));
  const { text } = await workspace.run(readTool, { path: 'a.txt' });
  expect(text.split('\n').slice(0, 2)).toEqual(['     1\tA\uFFFDBあ', '     2\tC\uFFFD']);
  expect(text.isWellFormed()).toBe(true);
});

test('characters on the borders of chunks stay whole', async () => {
  await using workspace = await temporaryWorkspace();
  const line = `${'あ'.repeat(1000)}x`;
  await writeFile(join(workspace.cwd, 'a.txt'), `${line}\n`.repeat(700));
  for (const start_line of [1, 85, 86, 87, 88, 173, 174, 175, 699]) {
    const { text } = await workspace.run(readTool, { path: 'a.txt', start_line, end_line: start_line });
    expect(text.split('\n')[0]).toBe(`${String(start_line).padStart(6)}\t${line}`);
  }
});

test('colour codes and a NUL behind the first 8 kB are kept', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), `\x1b[31mred\x1b[0m\n${'x\n'.repeat(5000)}a\0b\n`);
  expect((await workspace.run(readTool, { path: 'a.txt', end_line: 1 })).text).toContain('\t\x1b[31mred\x1b[0m\n');
  expect((await workspace.run(readTool, { path: 'a.txt', start_line: 5002 })).text).toBe('  5002\ta\0b');
});

test('half a surrogate pair is not written', async () => {
  await using workspace = await temporaryWorkspace();
  const result = await workspace.run(writeTool, { path: 'a.txt', content: 'x\ud83d' });
  expect(result).toMatchObject({ isError: true, text: expect.stringMatching(/surrogate pair.*Nothing was written\.$/) });
});

test('a cut line does not end in half a character', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), `x${'😀'.repeat(1500)}\n`);
  const { text } = await workspace.run(readTool, { path: 'a.txt' });
  expect(text.isWellFormed()).toBe(true);
  expect(text).not.toContain('not a UTF-8 file');
  expect(text).toContain("(line 1 cut after 2000 characters of 6.0 kB; see more with run_command: sed -n '1p' a.txt | cut -c2001-4000)");
});
