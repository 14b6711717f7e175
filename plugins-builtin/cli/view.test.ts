import { expect, test } from 'vitest';
import { recordEvents, testTerminal } from './terminal.testing.ts';
import { jsonView, pipedView } from './view.ts';

const events = recordEvents(
  ['session', { version: '1', cwd: '/w', model: 'lab/m', scripted: false, mode: 'normal' }],
  ['notice', { level: 'warn', text: 'plugin y is off' }],
  ['request', { round: 1, model: 'lab/m', messages: 1, tools: 1 }],
  ['delta', { kind: 'text', text: 'half' }],
  ['retry', { reason: 'cut', attempt: 1, partial: 'half' }],
  ['delta', { kind: 'text', text: 'FINAL\n' }],
  ['assistant', { text: 'FINAL\n', finish: 'stop', partial: false, calls: [] }],
  ['tool.call', { call: 'a', name: 'run_command', input: { command: 'make' } }],
  ['tool.ask', { call: 'a', question: 'Allow run_command?', reason: 'runs a command', rule: '--yes' }],
  ['tool.answer', { call: 'a', allowed: false, by: 'nobody' }],
  ['tool.result', { call: 'a', name: 'run_command', text: 'Not allowed', isError: true, ms: 1 }],
  ['stop', { reason: 'answered', code: 0, text: '\u001b[31mFINAL\n' }],
);

test('a pipe gets the answer once and whole; what needs attention goes to standard error', () => {
  const { terminal, stdout, stderr } = testTerminal({ stdout: 'pipe', stderr: 'pipe' });
  const view = pipedView(terminal, terminal.remarkStyle);
  for (const event of events) view.show(event);
  expect(stdout()).toBe('FINAL\n');
  expect(stderr()).toBe('⚠ plugin y is off\n⚠ not allowed, and nobody can be asked: run_command make. Allow it with: --yes\n');
});

test('a pipe gets nothing of a run that failed', () => {
  const { terminal, stdout } = testTerminal({ stdout: 'pipe' });
  const view = pipedView(terminal, terminal.remarkStyle);
  for (const event of recordEvents(['stop', { reason: 'rounds', code: 3, text: 'stopped' }])) view.show(event);
  expect(stdout()).toBe('');
});

test('--json is the records as they are, one a line, and nothing else', () => {
  const { terminal, stdout, stderr } = testTerminal({ stdout: 'pipe' });
  const view = jsonView(terminal);
  for (const event of events) view.show(event);
  expect(stdout().trimEnd().split('\n').map((line) => JSON.parse(line) as unknown)).toEqual(events);
  expect(stderr()).toBe('');
});
