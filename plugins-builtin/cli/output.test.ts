import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { outputTo } from './output.ts';
import { styleFor } from './style.ts';

test('a reader that leaves is no failure', async () => {
  const program = `
    import { outputTo } from ${JSON.stringify(new URL('output.ts', import.meta.url).href)};
    const output = outputTo(process.stdout, (reason) => console.error('lost', reason));
    for (let n = 0; n < 50; n += 1) { output.write('x'.repeat(100_000)); await new Promise(setImmediate); }
    await output.flush();
    process.exit(7);`;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdout.once('data', () => child.stdout.destroy());
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect({ code, stderr }).toEqual({ code: 7, stderr: '' });
});

test('all of a large output arrives before the process ends', async () => {
  const program = `
    import { outputTo } from ${JSON.stringify(new URL('output.ts', import.meta.url).href)};
    const output = outputTo(process.stdout, () => undefined);
    output.write('x'.repeat(1_000_000));
    await output.flush();
    process.exit(0);`;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let size = 0;
  for await (const chunk of child.stdout) size += (chunk as Buffer).length;
  expect(size).toBe(1_000_000);
});

test.skipIf(process.platform !== 'linux')('a full disk is known once the output is flushed', async () => {
  const program = `
    import { createTerminal } from ${JSON.stringify(new URL('terminal.ts', import.meta.url).href)};
    const terminal = createTerminal(process);
    terminal.print('answer');
    process.exitCode = (await terminal.flush()) ? 0 : 7;`;
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', program], { stdio: ['ignore', full, 'pipe'] });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  closeSync(full);
  expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringContaining('the output could not be written: ENOSPC') as string });
});

test('output that is lost to a full disk is told once', async () => {
  const lost: string[] = [];
  const full = new Writable({ write: (_, __, done) => done(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })) });
  const output = outputTo(full, (reason) => lost.push(reason));
  output.write('a');
  await output.flush();
  await new Promise(setImmediate);
  output.write('b');
  expect(lost).toEqual(['ENOSPC: no space left on device']);
});

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
])('colour: terminal %s, %j: %s', (isTerminal, env, coloured) => {
  expect(styleFor(isTerminal, env).red('x')).toBe(coloured ? '\u001b[31mx\u001b[39m' : 'x');
});
