import { expect, test } from 'vitest';
import { recordEvents } from '../terminal.testing.ts';
import { styleFor } from '../style.ts';
import { saidText } from '../said-text.ts';
import { chatCommands, type ChatControl, runChatCommand } from './commands.ts';
import { lastExchange } from './last-exchange.ts';

const plain = styleFor(false, {});

/** Runs a line with nothing behind it but what the command prints. */
async function run(line: string) {
  let printed = '';
  let left = 0;
  const chat = { style: plain, columns: 80, commands: chatCommands, print: (text: string) => void (printed += `${text}\n`), leave: () => void (left += 1) } as unknown as ChatControl;
  return { taken: await runChatCommand(line, chat), printed, left };
}

test.each(['hello', '/etc/hosts', '/etc/hosts is what?', ' /exit', '//', '/', '/1', 'say /exit'])('%j is a message', async (line) => {
  expect(await run(line)).toEqual({ taken: false, printed: '', left: 0 });
});

test.each(['/exit', '/EXIT', '/exit now'])('%j leaves', async (line) => {
  expect(await run(line)).toMatchObject({ taken: true, left: 1 });
});

test('an unknown command is told, with the one that was meant', async () => {
  expect((await run('/exti')).printed).toBe('there is no /exti; did you mean /exit? (a blank in front makes it a message)\n');
  expect((await run('/stat')).printed).toContain('did you mean /status?');
  expect((await run('/zzzzzz')).printed).toContain('/help shows what there is');
});

test('/help names every command', async () => {
  const { printed } = await run('/help');
  for (const [name, { description }] of chatCommands) expect(printed).toMatch(new RegExp(`^  /${name} .*  ${description.replaceAll('.', '\\.')}$`, 'm'));
});

test('what was said is shown short, without the content of its files, and harmless', () => {
  expect(saidText('one\ntwo', plain)).toBe('› one\n  two');
  expect(saidText('look\u001b[2J\n\n<file path="a.ts">\nsecret\n</file>\n\n<file path="b.ts">\nmore\n</file>', plain)).toBe('› look\n  + a.ts\n  + b.ts');
  expect(saidText(Array.from({ length: 20 }, (_, at) => `l${at}`).join('\n'), plain).split('\n')).toEqual(['› l0', ...Array.from({ length: 6 }, (_, at) => `  l${at + 1}`), '  … 13 more lines']);
});

test('the last exchange is what was said last and the answer, shortened', () => {
  const turn = recordEvents(
    ['user', { text: 'before' }],
    ['stop', { reason: 'answered', code: 0, text: 'old' }],
    ['user', { text: 'now' }],
    ['assistant', { text: 'on it', finish: 'tool-calls', partial: false, calls: [] }],
    ['stop', { reason: 'answered', code: 0, text: 'a\nb\nc\nd\ne\nf\ng\nh' }],
  );
  expect(lastExchange(turn, plain, 40)).toBe('\n› now\n\na\nb\nc\nd\ne\nf\n… 2 more lines');
  expect(lastExchange(turn.slice(0, -1), plain, 40)).toBe('\n› now\n\non it\n(it did not come to its end)');
  const cancelled = recordEvents(['user', { text: 'now' }], ['stop', { reason: 'cancelled', code: 130, text: 'cancelled' }]);
  expect(lastExchange(cancelled, plain, 40)).toContain('(cancelled)');
  expect(lastExchange([], plain, 40)).toBe('nothing was said in the last session');
});
