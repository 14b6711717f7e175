import type { Event, EventData } from 'newt-agent';
import { expect, test } from 'vitest';
import { textView } from './render-text.ts';
import { recordEvents, testTerminal, type TestStreams } from './terminal.testing.ts';

/** What a person sees of `events`; standard error goes to the same terminal. */
function seen(events: readonly Event[], streams: TestStreams = { env: { NO_COLOR: '1', TERM: 'dumb' } }): string {
  const { terminal, streams: both } = testTerminal(streams);
  let screen = '';
  for (const stream of [both.stdout, both.stderr]) stream.write = ((text: string) => ((screen += text), true)) as typeof stream.write;
  const view = textView(terminal);
  for (const event of events) view.show(event);
  return screen;
}

const session = ['session', { version: '1', cwd: '/w', model: 'lab/m', scripted: false, mode: 'normal' }] as const;
const request = (round: number) => ['request', { round, model: 'lab/m', messages: 1, tools: 1 }] as const;
const delta = (text: string, kind: 'text' | 'reasoning' = 'text') => ['delta', { kind, text }] as const;
const assistant = (text: string) => ['assistant', { text, finish: 'stop', partial: false, calls: [] as EventData<'assistant'>['calls'] }] as const;
const call = (id: string, name: string, input: Record<string, string>) => ['tool.call', { call: id, name, input }] as const;
const result = (id: string, text: string, isError = false, ms = 5) => ['tool.result', { call: id, name: 'x', text, isError, ms }] as const;
const answered = (text: string) => ['stop', { reason: 'answered', code: 0, text }] as const;

test('a whole run: text, tools, answer, totals', () => {
  const events = recordEvents(
    session,
    ['user', { text: 'fib' }],
    request(1),
    delta('\n\nI will write'),
    delta(' it.\n\n'),
    ['usage', { inputTokens: 800, outputTokens: 100 }],
    assistant('I will write it.'),
    call('a', 'write_file', { path: 'fib.py', content: 'print(1)\nprint(1)\n' }),
    result('a', 'Wrote 2 lines (18 bytes) to fib.py.'),
    call('b', 'run_command', { command: 'python3 fib.py' }),
    ['tool.output', { call: 'b', text: '1\n1\n' }],
    result('b', '1\n1\n(exit code 0, 0.2 s)'),
    ['round', { round: 1 }],
    request(2),
    delta('Done.'),
    ['usage', { inputTokens: 1_434, outputTokens: 12 }],
    assistant('Done.'),
    answered('Done.'),
  );
  expect(seen(events)).toBe(`I will write it.

● write_file fib.py
  Wrote 2 lines (18 bytes) to fib.py.
● run_command python3 fib.py
  1
  1
  exit code 0, 0.2 s

Done.

2 rounds · 2.2k tokens in · 112 out · 1.6 s
`);
});

test('calls side by side are shown one after the other, each with its own result', () => {
  const events = recordEvents(
    call('a', 'read_file', { path: 'a.ts' }),
    call('b', 'grep', { pattern: 'TODO', path: 'src' }),
    call('c', 'read_file', { path: 'no.ts' }),
    ['tool.output', { call: 'b', text: 'early\n' }],
    result('a', '1\tx\n2\ty\n'),
    result('b', 'src/a.ts:1: TODO'),
    result('c', 'no.ts does not exist.\nNothing was read.', true),
  );
  expect(seen(events)).toBe(`● read_file a.ts
  2 lines
● grep TODO src
  early
  src/a.ts:1: TODO
● read_file no.ts
  no.ts does not exist.
`);
});

test('a call that was asked about is named again when its result comes after another', () => {
  const events = recordEvents(
    call('a', 'run_command', { command: 'make' }),
    ['tool.ask', { call: 'a', question: 'Allow run_command?', reason: 'runs a command', rule: '--yes' }],
    ['tool.answer', { call: 'a', allowed: true, by: 'person' }],
    call('b', 'run_command', { command: 'rm x' }),
    ['tool.ask', { call: 'b', question: 'Allow run_command?', reason: 'runs a command', rule: '--yes' }],
    ['tool.answer', { call: 'b', allowed: false, by: 'nobody' }],
    result('a', '(no output, exit code 0, 0.1 s)', false, 2_000),
    result('b', 'Not allowed: runs a command, and nobody can be asked. Nothing was run.', true),
  );
  expect(seen(events, { columns: 100, env: { NO_COLOR: '1', TERM: 'dumb' } })).toBe(`● run_command make
● run_command rm x
● run_command make
  no output, exit code 0, 0.1 s
● run_command rm x
  not allowed, and nobody can be asked; allow it with: --yes
`);
});

test('a view knows what it has shown in full of a call', () => {
  const view = textView(testTerminal({ columns: 40 }).terminal);
  const long = `echo ${'x'.repeat(40)}`;
  for (const event of recordEvents(call('a', 'run_command', { command: 'echo hi' }), call('b', 'run_command', { command: long }), result('a', ''))) view.show(event);
  expect(view.hasShown?.('a', 'echo hi')).toBe(false);
  expect(view.hasShown?.('b', long)).toBe(false);
  for (const event of recordEvents(result('b', ''), call('c', 'run_command', { command: 'make' }))) view.show(event);
  expect(view.hasShown?.('c', 'make')).toBe(true);
  expect(view.hasShown?.('c', 'make all')).toBe(false);
});

test('live output keeps to its last lines, redrawn in place and left behind when the call ends', () => {
  const lines = Array.from({ length: 7 }, (_, index) => `line ${index + 1}\n`);
  const events = recordEvents(
    call('a', 'run_command', { command: 'npm test' }),
    ['tool.output', { call: 'a', text: lines.slice(0, 2).join('') }],
    ['tool.output', { call: 'a', text: `${lines.slice(2).join('')}10%\r20%` }],
    result('a', 'all of it\n(exit code 1, 3.0 s)', true),
  );
  expect(seen(events, {})).toBe(
    '● run_command npm test\n' +
      '  line 1\n  line 2\n' +
      '\u001b[2A\u001b[J' +
      '  … 3 earlier lines\n  line 4\n  line 5\n  line 6\n  line 7\n  20%\n' +
      '\u001b[6A\u001b[J' +
      '  … 3 earlier lines\n  line 4\n  line 5\n  line 6\n  line 7\n  20%\n' +
      '  exit code 1, 3.0 s\n',
  );
});

test('a warning while output is live takes the place of the rows, which come back', () => {
  const events = recordEvents(
    call('a', 'run_command', { command: 'x' }),
    ['tool.output', { call: 'a', text: 'one\n' }],
    ['notice', { level: 'info', text: 'by the way' }],
    ['tool.output', { call: 'a', text: 'two\n' }],
    result('a', '(exit code 0, 1.0 s)'),
  );
  expect(seen(events, {})).toBe(
    '● run_command x\n  one\n\u001b[1A\u001b[Jby the way\n  one\n  two\n\u001b[2A\u001b[J  one\n  two\n  exit code 0, 1.0 s\n',
  );
});

test('faults, notices and a cut connection are one line each, broken where the terminal ends', () => {
  const events = recordEvents(
    ['session', { version: '1', cwd: '/w', model: 'tour/fibonacci', scripted: true, mode: 'normal' }],
    ['fault', { plugin: 'x', where: 'hook tool.before', kind: 'threw', cause: 'boom', action: 'off', next: 'fix', line: 'plugin x: hook tool.before: boom\n\u001b[2J(i.ts:3:1); it is off. Fix it.' }],
    ['notice', { level: 'warn', text: 'plugin y is off' }],
    request(1),
    delta('half an ans'),
    ['retry', { reason: 'the connection was cut', attempt: 1, partial: 'half an ans' }],
    delta('A whole answer.'),
    assistant('A whole answer.'),
    answered('A whole answer.'),
  );
  expect(seen(events, { columns: 60, env: { NO_COLOR: '1', TERM: 'dumb' } })).toContain('⚠ plugin x: hook tool.before: boom (i.ts:3:1); it is off.\n  Fix it.\n');
  expect(seen(events, { columns: 80, env: { NO_COLOR: '1', TERM: 'dumb' } })).toBe(`scripted model tour/fibonacci
⚠ plugin x: hook tool.before: boom (i.ts:3:1); it is off. Fix it.
⚠ plugin y is off

half an ans

⚠ the connection was cut; asking again (the text above is partial)

A whole answer.

1 round
`);
});

test('reasoning is its first line, once an answer', () => {
  const events = recordEvents(
    request(1),
    delta('First I look', 'reasoning'),
    delta(' around.\nThen I think on.\n', 'reasoning'),
    delta('more', 'reasoning'),
    delta('Hello.'),
    ['reasoning', { text: 'First I look around.\nThen I think on.\nmore' }],
    assistant('Hello.'),
  );
  expect(seen(events)).toBe('· First I look around.\n\nHello.\n');
});

test('an answer that was not streamed is shown, and so is the summary of task_done', () => {
  expect(seen(recordEvents(request(1), assistant('All at once.'), answered('All at once.')))).toBe('All at once.\n\n1 round\n');
  const done = recordEvents(
    request(1),
    delta('Working.'),
    assistant('Working.'),
    call('a', 'task_done', { status: 'done', summary: 'It works.' }),
    result('a', 'ok'),
    ['stop', { reason: 'done', code: 0, text: 'It works.' }],
  );
  expect(seen(done)).toBe('Working.\n\nIt works.\n\n1 round\n');
});

test('a use_tool call is shown as the call it makes', () => {
  const events = recordEvents(['tool.call', { call: 'a', name: 'use_tool', input: { name: 'git_log', args: { path: 'src' } } }], result('a', 'x'));
  expect(seen(events)).toBe('● git_log src\n  x\n');
});

test('nothing of a model or a tool steers the terminal, split over deltas or not', () => {
  const events = recordEvents(
    request(1),
    delta('safe\u001b'),
    delta(']0;title'),
    delta('\u0007 text\u202e\u009b31m red'),
    assistant(''),
    call('a', 'run_command', { command: 'echo \u001b[2J\rrm' }),
    ['tool.output', { call: 'a', text: '\u001b[1Aover\u001b]52;c;eA==\u0007\n' }],
    result('a', '\u001bc\n\u001b[0mwiped', true),
  );
  const screen = seen(events);
  expect(screen).toBe('safe text red\n\n● run_command echo ␛[2J rm\n  over\n  wiped\n');
});

test('lines are cut at the width of the terminal, wide characters counted', () => {
  const events = recordEvents(call('a', 'read_file', { path: '漢'.repeat(30) }), result('a', 'e'.repeat(60), true));
  expect(seen(events, { columns: 30, env: { NO_COLOR: '1', TERM: 'dumb' } })).toBe(`● read_file ${'漢'.repeat(8)}…\n  ${'e'.repeat(26)}…\n`);
});

test('colour marks what is said, done and wrong', () => {
  const events = recordEvents(call('a', 'grep', { pattern: 'x' }), result('a', 'bad', true));
  expect(seen(events, { env: {} })).toBe('\u001b[36m●\u001b[39m \u001b[1mgrep\u001b[22m x\n  \u001b[31mbad\u001b[39m\n');
});

test('a cancelled run says so once, on a line of its own, and asks nothing more', () => {
  const { terminal, stdout, stderr } = testTerminal();
  const view = textView(terminal);
  const [ask, ...rest] = recordEvents(
    call('a', 'run_command', { command: 'make' }),
    ['tool.ask', { call: 'a', question: 'Allow run_command?', reason: 'runs a command', rule: '--yes' }],
    ['tool.answer', { call: 'a', allowed: false, by: 'nobody' }],
    result('a', 'Not allowed', true),
    ['stop', { reason: 'cancelled', code: 130, text: 'cancelled' }],
  );
  if (ask) view.show(ask);
  view.cancelling();
  for (const event of rest) view.show(event);
  expect(stdout()).toBe('● run_command make\n\n  cancelled\n\n0 rounds\n');
  expect(stderr()).toBe('cancelling… (Ctrl-C again to quit)\n');
});
