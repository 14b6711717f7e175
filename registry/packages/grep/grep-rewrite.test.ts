import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperationalError, type ToolCall } from 'newt-agent';
import { afterAll, describe, expect, test } from 'vitest';
import { temporaryWorkspace, type Workspace } from '../../../test/support/tool-call.ts';
import { plant, startPrograms, toolsFor } from './tools.testing.ts';

const programs = startPrograms();
const { rewrite: tool } = toolsFor(programs);
afterAll(() => programs.dispose());

const bytes = (workspace: Workspace, path: string): Buffer => readFileSync(join(workspace.cwd, path));
const text = (workspace: Workspace, path: string): string => bytes(workspace, path).toString();

/** The file after a rewrite that is applied. */
async function rewritten(content: string | Uint8Array, input: object, file = 'a.ts'): Promise<Buffer> {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { [file]: content });
  const answer = await workspace.run(tool, { path: file, apply: true, ...input });
  expect(answer).not.toHaveProperty('isError');
  return bytes(workspace, file);
}

describe('preview and apply', () => {
  const files = { 'src/a.ts': 'old(1);\nkeep();\nold(2);\n', 'src/b.tsx': 'const b = <p>{old(b)}</p>;\n', 'c.js': 'old(3)\n' };
  const request = { pattern: 'old($A)', replacement: 'fresh($A, true)', language: 'typescript' };

  test('a unified diff first, and nothing is written', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, files);
    const answer = await workspace.run(tool, request);
    expect(answer).toEqual({
      text: [
        '3 places in 2 files; nothing is written yet, apply: true does it.',
        '--- src/a.ts',
        '+++ src/a.ts',
        '@@ -1,3 +1,3 @@',
        '-old(1);',
        '+fresh(1, true);',
        ' keep();',
        '-old(2);',
        '+fresh(2, true);',
        '--- src/b.tsx',
        '+++ src/b.tsx',
        '@@ -1,1 +1,1 @@',
        '-const b = <p>{old(b)}</p>;',
        '+const b = <p>{fresh(b, true)}</p>;',
      ].join('\n'),
      data: { applied: false, files: [{ path: 'src/a.ts', edits: 2, breaks: false }, { path: 'src/b.tsx', edits: 1, breaks: false }] },
    });
    expect(text(workspace, 'src/a.ts')).toBe(files['src/a.ts']);
  });

  test('then it is written, and only then', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, files);
    expect(await workspace.preview(tool, request)).toBe('This only shows what would change.');
    expect(await workspace.preview(tool, { ...request, apply: true })).toMatch(/^3 places in 2 files\n--- src\/a\.ts\n[\s\S]*\+fresh\(2, true\);/);
    expect(text(workspace, 'src/a.ts')).toBe(files['src/a.ts']);
    expect(await workspace.run(tool, { ...request, apply: true })).toMatchObject({ text: 'Rewrote 3 places in 2 files.\nsrc/a.ts: 2\nsrc/b.tsx: 1', data: { applied: true } });
    expect([text(workspace, 'src/a.ts'), text(workspace, 'src/b.tsx'), text(workspace, 'c.js')]).toEqual(['fresh(1, true);\nkeep();\nfresh(2, true);\n', 'const b = <p>{fresh(b, true)}</p>;\n', 'old(3)\n']);
    expect(readdirSync(join(workspace.cwd, 'src')).sort()).toEqual(['a.ts', 'b.tsx']);
    expect((await workspace.run(tool, { ...request, apply: true })).text).toMatch(/^Nothing to change: in 2 typescript files of the workspace nothing matches old\(\$A\)/);
  });

  test('a file that changed since it was shown is not written, nor is any other', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, files);
    await workspace.run(tool, request);
    writeFileSync(join(workspace.cwd, 'src/b.tsx'), 'const c = <p>{old(c)}</p>;\n');
    const answer = await workspace.run(tool, { ...request, apply: true });
    expect(answer).toEqual({ text: 'src/b.tsx changed since the preview. Call it without apply to see what would happen now. Nothing was written.', isError: true });
    expect(text(workspace, 'src/a.ts')).toBe(files['src/a.ts']);
    // Also where it would not be touched any more, and where one is new.
    writeFileSync(join(workspace.cwd, 'src/b.tsx'), 'const c = 1;\n');
    expect((await workspace.run(tool, { ...request, apply: true })).text).toMatch(/^A file changed since the preview/);
    await workspace.run(tool, request);
    writeFileSync(join(workspace.cwd, 'src/new.ts'), 'old(9)\n');
    expect((await workspace.run(tool, { ...request, apply: true })).text).toMatch(/^src\/new\.ts changed since the preview/);
    expect((await workspace.preview(tool, { ...request, apply: true }))).toMatch(/^This rewrite will fail: src\/new\.ts changed/);
    await workspace.run(tool, request);
    expect((await workspace.run(tool, { ...request, apply: true })).text).toMatch(/^Rewrote 3 places in 2 files/);
  });

  test('one that changes while it is written stops the rest, and it is said how far it came', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a.js': 'old(1)\n', 'b.js': 'old(2)\n', 'c.js': 'old(3)\n' });
    const call = workspace.call();
    // Every file is judged before the first is written: the last of these calls comes just before.
    const resolve: ToolCall['resolve'] = async (path, access) => {
      if (path === 'c.js') writeFileSync(join(workspace.cwd, 'b.js'), 'old(2) // mine\n');
      return call.resolve(path, access);
    };
    const answer = await tool.run(tool.input.parse({ ...request, language: 'js', apply: true }) as never, { ...call, resolve });
    expect(answer).toMatchObject({ isError: true, text: 'b.js changed in the meantime. Look at it again. Written before that: a.js. Not written: b.js, c.js.' });
    expect([text(workspace, 'a.js'), text(workspace, 'b.js'), text(workspace, 'c.js')]).toEqual(['fresh(1, true)\n', 'old(2) // mine\n', 'old(3)\n']);
  });

  test('a file that needs a word of its own keeps all from being written', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a.js': 'old(1)\n', '.agent/plugins/b.js': 'old(2)\n' });
    const call = workspace.call();
    const resolve: ToolCall['resolve'] = async (path, access) => {
      if (access === 'write' && path.startsWith('.agent')) throw new OperationalError(`${path} lies in an .agent folder, and was not approved`);
      return call.resolve(path, access);
    };
    const answer = await tool.run(tool.input.parse({ ...request, language: 'js', apply: true }) as never, { ...call, resolve });
    expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(/^\.agent\/plugins\/b\.js lies in an \.agent folder.*Leave it out with exclude.*Nothing was written\.$/) as string });
    expect([text(workspace, 'a.js'), text(workspace, '.agent/plugins/b.js')]).toEqual(['old(1)\n', 'old(2)\n']);
  });

  test('the gate hears of writing only when it is asked for', () => {
    expect(tool.effect).toBe('write');
    expect(tool.touches?.({ path: 'src', apply: true } as never, {} as ToolCall)).toEqual([{ path: 'src', access: 'write' }]);
    expect(tool.touches?.({} as never, {} as ToolCall)).toEqual([{ path: '.', access: 'read' }]);
  });
});

describe('what is written', () => {
  const request = { pattern: 'old($A, $$$REST)', replacement: 'fresh($$$REST, $A)' };

  test('one name, several names, none of them', async () => {
    expect(String(await rewritten('old(a, b, /* x */ c)\n', request))).toBe('fresh(b, /* x */ c, a)\n');
    expect(String(await rewritten('f(old(a));\n', { pattern: 'old($A)', replacement: '' }))).toBe('f();\n');
    expect(String(await rewritten('old("$1$&$$", `${x}`)\n', request))).toBe('fresh(`${x}`, "$1$&$$")\n');
  });

  test('every other byte, the mode, the line endings and the encoding stay', async () => {
    await using workspace = await temporaryWorkspace();
    const replaced = { pattern: 'old($A)', replacement: 'if ($A) {\n  fresh();\n}', apply: true };
    const before = '\uFEFF// 日本😀\r\n{\r\n  old(é)\r\n}\r\n\r\n';
    const after = '\uFEFF// 日本😀\r\n{\r\n  if (é) {\r\n    fresh();\r\n  }\r\n}\r\n\r\n';
    await plant(workspace.cwd, { 'a.js': before, 'b.js': Buffer.from(before, 'utf16le'), 'c.js': Buffer.from(before, 'utf16le').swap16(), 'd.js': 'old(1)' });
    chmodSync(join(workspace.cwd, 'a.js'), 0o755);
    expect((await workspace.run(tool, { ...replaced, language: 'js' })).text).toMatch(/^Rewrote 4 places in 4 files/);
    expect(text(workspace, 'a.js')).toBe(after);
    expect(statSync(join(workspace.cwd, 'a.js')).mode & 0o777).toBe(0o755);
    expect(bytes(workspace, 'b.js')).toEqual(Buffer.from(after, 'utf16le'));
    expect(bytes(workspace, 'c.js')).toEqual(Buffer.from(after, 'utf16le').swap16());
    expect(text(workspace, 'd.js')).toBe('if (1) {\n  fresh();\n}');
  });

  test('bytes that are no UTF-8 are left alone, and it is said', async () => {
    await using workspace = await temporaryWorkspace();
    const latin = Buffer.from('// \xe9\nold(1)\n', 'latin1');
    await plant(workspace.cwd, { 'a.js': latin, 'b.js': 'old(2)\n' });
    expect((await workspace.run(tool, { pattern: 'old($A)', replacement: 'fresh($A)', language: 'js', apply: true })).text).toBe('Rewrote 1 place in 1 file.\nb.js: 1\n(a.js: not UTF-8 or UTF-16 throughout, not rewritten)');
    expect(bytes(workspace, 'a.js')).toEqual(latin);
  });

  test('matches within matches are left for another run', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a.js': 'old(old(1))\n' });
    expect((await workspace.run(tool, { pattern: 'old($A)', replacement: 'fresh($A)', path: 'a.js', apply: true })).text).toBe('Rewrote 1 place in 1 file.\na.js: 1\n(1 more within these matches; run it again for them)');
    expect(text(workspace, 'a.js')).toBe('fresh(old(1))\n');
  });

  test('code that would not parse any more is warned of', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a.js': 'x = old(1);\n' });
    expect((await workspace.run(tool, { pattern: 'old($A)', replacement: 'fresh($A))', path: 'a.js' })).text).toContain('(Warning: after this, a.js no longer parses)');
  });

  test('a name that the pattern has not', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a.js': 'old(1)\n', 'a.sh': 'echo one\n' });
    expect((await workspace.run(tool, { pattern: 'old($A)', replacement: 'fresh($B)', path: 'a.js' })).text).toBe('The replacement has $B, and the pattern does not. Nothing was written.');
    // In a shell it is a variable.
    expect((await workspace.run(tool, { pattern: 'echo $A', replacement: 'echo $HOME $A', path: 'a.sh' })).text).toContain('+echo $HOME one');
  });

  test('a link is followed to the file, and stays a link', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'real.js': 'old(1)\n' });
    symlinkSync('real.js', join(workspace.cwd, 'link.js'));
    await workspace.run(tool, { pattern: 'old($A)', replacement: 'fresh($A)', path: 'link.js', apply: true });
    expect(text(workspace, 'real.js')).toBe('fresh(1)\n');
    expect(readFileSync(join(workspace.cwd, 'link.js'), 'utf8')).toBe('fresh(1)\n');
  });

  test('a search that was stopped writes nothing', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a.js': 'old(1)\n' });
    const { rewrite } = toolsFor(programs, 0.001);
    expect(await workspace.run(rewrite, { pattern: 'old($A)', replacement: 'fresh($A)', path: 'a.js', apply: true })).toEqual({ text: expect.stringMatching(/^The search is incomplete: .* Nothing was written\.$/) as string, isError: true });
    expect(text(workspace, 'a.js')).toBe('old(1)\n');
  });
});
