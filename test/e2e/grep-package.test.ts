/** The plugin grep through the built command: added as a folder, found by a scripted model, and used through the gate. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

const folder = fileURLToPath(new URL('../../registry/packages/grep', import.meta.url));

const files = {
  'src/a.ts': 'export function a() {\n  log("日本😀", 1);\n}\n',
  'src/b.py': 'def b():\n    log("b", 2)\n',
  '.agent/plugins/c.ts': 'log("c", 3);\n',
  'long.txt': `${'a'.repeat(60)}!\n`,
};

test('text, syntax in two languages, a rewrite that was looked at first, and a pattern that never ends', async () => {
  const rewrite = { pattern: 'log($A, $B)', replacement: 'note($B, $A)', language: 'typescript', exclude: '.agent' };
  await using stage = await openStage(
    rounds(
      call('tool_search', { query: 'grep ast' }),
      [call('use_tool', { name: 'grep_text', args: { pattern: 'LOG("', literal: true, ignore_case: true, path: 'src', context: 1 } }), { ...call('grep_ast', { pattern: 'log($A, $B)', language: 'typescript' }), id: 'ast' }, { ...call('grep_ast', { pattern: 'log($$$A)', path: 'src/b.py' }), id: 'python' }],
      call('grep_rewrite', rewrite),
      call('grep_rewrite', { ...rewrite, exclude: undefined, apply: true }),
      call('grep_rewrite', { ...rewrite, apply: true }),
      call('grep_text', { pattern: '^(a+)+$', path: 'long.txt' }),
    ),
  );
  const { place } = stage;
  place.write(files);
  expect(await place.agent(['plugin', 'add', '--yes', folder])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Added grep /) as string });
  await place.agent(['config', 'set', 'plugins.config.grep.timeout', '1.5']);
  const done = await stage.run();
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  const [search, text, ast, python, shown, refused, applied, endless] = stage.answers();
  expect(search?.text).toContain('"grep_ast"');
  expect(text).toMatchObject({ name: 'grep_text', isError: false, text: 'src/a.ts-1- export function a() {\nsrc/a.ts:2:3:   log("日本😀", 1);\nsrc/a.ts-3- }\n--\nsrc/b.py-1- def b():\nsrc/b.py:2:5:     log("b", 2)' });
  expect(ast?.text).toContain('src/a.ts:2:3:   log("日本😀", 1);\n    $A = "日本😀"\n    $B = 1');
  expect(python?.text).toBe('src/b.py:2:5:     log("b", 2)\n    $A = "b", 2');
  expect(shown?.text).toContain('+  note(1, "日本😀");');
  // The .agent folder is not written on the strength of a yes to its parent.
  expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/^\.agent\/plugins\/c\.ts lies in an \.agent folder/) as string });
  expect(applied).toMatchObject({ isError: false, text: 'Rewrote 1 place in 1 file.\nsrc/a.ts: 1' });
  expect(readFileSync(join(place.workspace, 'src/a.ts'), 'utf8')).toBe('export function a() {\n  note(1, "日本😀");\n}\n');
  expect(readFileSync(join(place.workspace, '.agent/plugins/c.ts'), 'utf8')).toBe(files['.agent/plugins/c.ts']);
  expect(endless).toMatchObject({ isError: true, text: expect.stringContaining('it was stopped after 1.5 s') as string });
  expect((await place.agent(['plugin', 'faults', 'grep'])).stdout).toContain('no fault');
});

test('where nobody can be asked, a rewrite is refused with what would allow it', async () => {
  await using stage = await openStage(rounds(call('grep_rewrite', { pattern: 'log($A, $B)', replacement: 'note($A)', path: 'src/a.ts', apply: true })));
  stage.place.write(files);
  expect(await stage.place.agent(['plugin', 'add', '--yes', folder])).toMatchObject({ code: 0 });
  const { stderr } = await stage.place.agent(['run', 'go']);
  const [refused] = stage.answers();
  expect(refused, stderr).toMatchObject({ isError: true, text: expect.stringMatching(/^Not allowed: writes src\/a\.ts, and nobody can be asked\. Nothing was run\./) as string });
  expect(readFileSync(join(stage.place.workspace, 'src/a.ts'), 'utf8')).toBe(files['src/a.ts']);
});
