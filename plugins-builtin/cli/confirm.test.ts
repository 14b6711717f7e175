import { spawn, spawnSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { askYesOrNo } from './confirm.ts';

function question(signal?: AbortSignal) {
  const input = new PassThrough();
  let shown = '';
  const answer = askYesOrNo('Allow it?', { input, write: (text) => void (shown += text), close: () => undefined }, signal);
  return { input, answer, shown: () => shown };
}

test.each([
  ['y\n', true],
  ['YES\n', true],
  [' y \r\n', true],
  ['\n', false],
  ['n\n', false],
  ['no\n', false],
])('%j is %s', async (typed, expected) => {
  const { input, answer, shown } = question();
  input.write(typed);
  expect(await answer).toBe(expected);
  expect(shown()).toBe('Allow it? [y/N] ');
});

test('anything else is asked again, and is no after the third time', async () => {
  const { input, answer, shown } = question();
  for (const typed of ['what\n', 'yy\n', 'hm\n']) {
    input.write(typed);
    await new Promise(setImmediate);
  }
  expect(await answer).toBe(false);
  expect(shown()).toBe('Allow it? [y/N] Please answer y or n: Please answer y or n: ');
});

test('the end of input is no', async () => {
  const { input, answer } = question();
  input.end();
  expect(await answer).toBe(false);
});

test('an abort ends the waiting without an answer', async () => {
  const controller = new AbortController();
  const { answer, shown } = question(controller.signal);
  await new Promise(setImmediate);
  controller.abort();
  expect(await answer).toBeUndefined();
  expect(shown()).toBe('Allow it? [y/N] \n');
});

const hasScript = spawnSync('script', ['--version']).status === 0;

/** Runs a program that asks on a pseudo-terminal of its own; `type` is what the person does. */
function onTerminal(command: (ask: string) => string, type: (screen: string, keys: (text: string) => void) => void): Promise<string> {
  const program = `
    import { confirmOnTerminal } from ${JSON.stringify(new URL('confirm.ts', import.meta.url).href)};
    process.on('SIGINT', () => console.log('SIGINT'));
    const asked = confirmOnTerminal('Allow it?');
    console.log('starting');
    console.log('answer: ' + (await asked));
    process.exit(0);`;
  const ask = '"$NODE" --no-warnings --input-type=module --eval "$PROGRAM"';
  const env = { ...process.env, NODE: process.execPath, PROGRAM: program };
  const child = spawn('script', ['--quiet', '--return', '--command', command(ask), '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let screen = '';
  return new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
      type(screen, (keys) => child.stdin.write(keys));
    });
    child.on('close', () => resolve(screen));
  });
}

/** Does each thing once, when its text has appeared. */
const once = (...steps: readonly (readonly [seen: string, keys: string])[]) => {
  const left = [...steps];
  return (screen: string, keys: (text: string) => void): void => {
    for (let step = left[0]; step && screen.includes(step[0]); step = left[0]) keys(left.shift()?.[1] ?? '');
  };
};

test.runIf(hasScript)('on a terminal, keys from before the question are no answer', async () => {
  const screen = await onTerminal((ask) => ask, once(['starting', 'y\ny\nye'], ['Allow it? [y/N] ', 'n\n']));
  expect(screen).toContain('answer: false');
});

test.runIf(hasScript)('with standard input from a pipe the terminal is asked all the same', async () => {
  const screen = await onTerminal((ask) => `echo n | ${ask}`, once(['Allow it? [y/N] ', 'y\n']));
  expect(screen).toContain('answer: true');
});

test.runIf(hasScript)('Ctrl-C in the moment before the question is a signal, not lost', async () => {
  const screen = await onTerminal((ask) => ask, once(['starting', '\u0003'], ['SIGINT', 'y\n']));
  expect(screen).toContain('SIGINT');
});
