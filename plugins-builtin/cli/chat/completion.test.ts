import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/boot.ts';
import { chatCommands } from './commands.ts';
import { completion } from './completion.ts';
import { fileNames } from './file-names.ts';

function workspace(...names: string[]): string {
  const cwd = temporaryFolder();
  for (const name of names) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), name.endsWith('.gitignore') ? 'out/\n*.log\n!keep.log\n' : '');
  }
  return cwd;
}

/** What is offered for `text` with the cursor at its end, and what the first choice makes of it. */
async function complete(text: string, names: readonly string[] = []) {
  const provider = completion(chatCommands, () => names);
  const lines = text.split('\n');
  const at = [lines, lines.length - 1, lines.at(-1)?.length ?? 0] as const;
  const found = await provider.getSuggestions(...at, { signal: AbortSignal.timeout(1_000) });
  const [first] = found?.items ?? [];
  const done = first && found ? provider.applyCompletion(...at, first, found.prefix) : undefined;
  return { labels: found?.items.map(({ label }) => label) ?? [], text: done?.lines.join('\n'), column: done?.cursorCol };
}

test('commands are completed at the start of a message alone', async () => {
  expect(await complete('/')).toMatchObject({ labels: [...chatCommands.keys()].map((name) => `/${name}`) });
  expect(await complete('/mo')).toMatchObject({ labels: ['/model'], text: '/model ', column: 7 });
  expect(await complete('/he')).toMatchObject({ text: '/help' });
  for (const text of ['say /mo', 'one\n/mo', '/model e', ' /mo', '/nothing']) expect((await complete(text)).labels).toEqual([]);
});

test('files are completed behind @, nearest first, and only there', async () => {
  const names = ['src/', 'src/app.ts', 'docs/', 'docs/app notes.md', '.env', 'application.txt'];
  expect((await complete('@app', names)).labels).toEqual(expect.arrayContaining(['application.txt', 'src/app.ts', 'docs/app notes.md']) as string[]);
  expect((await complete('@app', names)).labels[0]).toBe('application.txt');
  expect(await complete('see (@src/a', names)).toMatchObject({ labels: ['src/app.ts'], text: 'see (@src/app.ts ' });
  expect(await complete('@sr', names)).toMatchObject({ text: '@src/' });
  expect(await complete('@notes', names)).toMatchObject({ text: '@"docs/app notes.md" ' });
  expect(await complete('@"docs/app n', names)).toMatchObject({ text: '@"docs/app notes.md" ' });
  expect((await complete('@', names)).labels).not.toContain('.env');
  expect((await complete('@.e', names)).labels[0]).toBe('.env');
  for (const text of ['app', 'me@app', '@app ', 'no @zzz']) expect((await complete(text, names)).labels).toEqual([]);
});

test('a name that could steer the terminal is not offered', async () => {
  expect((await complete('@ev', ['ev\u001b[2Jil', 'even'])).labels).toEqual(['even']);
});

test('the list of files leaves out what git ignores, level by level', () => {
  const cwd = workspace('.gitignore', 'a.ts', 'b.log', 'keep.log', 'out/x.js', 'sub/c.ts', 'sub/d.log', 'sub/out/y.js', '.git/config', 'node_modules/z/index.js');
  expect(fileNames(cwd)()).toEqual(['.gitignore', 'a.ts', 'keep.log', 'sub/', 'sub/c.ts']);
});

test('the list is made anew when it is old, and ends when its time is up', () => {
  const cwd = workspace('a', 'deep/b');
  let time = 0;
  const names = fileNames(cwd, () => time);
  expect(names()).toEqual(['a', 'deep/', 'deep/b']);
  writeFileSync(join(cwd, 'c'), '');
  expect(names()).toHaveLength(3);
  time = 4_000;
  expect(names()).toEqual(['a', 'c', 'deep/', 'deep/b']);
  let ticks = 0;
  expect(fileNames(cwd, () => (ticks += 100))()).toEqual(['a', 'c', 'deep/']);
});

test('a huge folder is listed in part', () => {
  const cwd = workspace(...Array.from({ length: 5_100 }, (_, at) => `f${at}`));
  expect(fileNames(cwd, () => 0)()).toHaveLength(5_000);
});
