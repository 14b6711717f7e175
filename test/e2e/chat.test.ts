/** `agent chat` through the built command, on a real pseudo-terminal. The model is a script. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { type ModelServer, type Script, startModelServer } from '../support/model-server.ts';
import { hasPseudoTerminals, openPseudoTerminal, type PseudoTerminal } from '../support/pseudo-terminal.ts';

let place: Place;
let server: ModelServer;

async function stage(script: Script): Promise<void> {
  server = await startModelServer(script);
  place = createPlace(server.url);
}

afterEach(async () => {
  await server.close();
  place.remove();
});

const env = () => ({ AGENT_BASE_URL: server.url, AGENT_MODEL: 'test' });
const ready = '/help shows commands';

async function chat(args: readonly string[] = [], options: { columns?: number; rows?: number; env?: NodeJS.ProcessEnv } = {}): Promise<PseudoTerminal> {
  const terminal = openPseudoTerminal(place, ['chat', ...args], { ...options, env: { ...env(), ...options.env } });
  await terminal.see(ready);
  return terminal;
}

/** What the person said last in a request, as the model got it. */
function said(at: number): string {
  const content = server.requests[at]?.body.messages.findLast(({ role }) => role === 'user')?.content;
  return typeof content === 'string' ? content : (content as { text?: string }[]).map(({ text }) => text ?? '').join('');
}

function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/** What is being written while the size changes: its rows tell for which width they were drawn. */
const draft = 'e'.repeat(200);
const seeDraft = (terminal: PseudoTerminal, columns: number): Promise<void> => terminal.see(new RegExp(`^› e{${columns - 4}}$(\\n  e+)+$(?![\\s\\S])`, 'm'));

const logs = (): string[] => readdirSync(join(place.home, 'state', 'sessions'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));

const onTerminal = hasPseudoTerminals ? describe : describe.skip;

onTerminal('on a terminal (skipped where there is no python3 with pty)', () => {
  test('two turns, the answer streams, and the end says how to go on', async () => {
    const held = gate();
    await stage([{ text: ['The first ', 'answer 中文 🎉.'], gate: held.opened }, { text: 'The second answer.' }]);
    await using terminal = await chat();
    terminal.keys('hello\r');
    await terminal.see('› hello');
    await terminal.see('The first');
    expect(terminal.screen()).not.toContain('answer 中文');
    held.open();
    await terminal.see('The first answer 中文 🎉.');
    await terminal.see('1 round');
    terminal.keys('again\r');
    await terminal.see('The second answer.');
    expect(JSON.stringify(server.requests[1]?.body.messages)).toMatch(/hello.*The first answer.*again/s);
    await terminal.see(/1 round[\s\S]*1 round/);
    terminal.keys('\u0004');
    expect(await terminal.ended).toEqual({ code: 0, cooked: true });
    expect(terminal.screen()).toMatch(/20 tokens in · 10 out · go on in ~\/workspace with: agent chat --continue$/);
    // The editor is gone, and stands nowhere in what scrolled away.
    expect(terminal.screen()).not.toMatch(/^›$|working/m);
  });

  test('a message while the agent works is queued, then taken with the next round', async () => {
    const held = gate();
    await stage([{ text: ['I look. ', 'Still.'], gate: held.opened, toolCalls: [{ name: 'list_directory', arguments: {} }] }, { text: 'As you say.' }]);
    await using terminal = await chat();
    terminal.keys('look around\r');
    await terminal.see('I look.');
    terminal.keys('only the tests\r');
    await terminal.see('queued: only the tests');
    held.open();
    await terminal.see('› only the tests');
    await terminal.see('As you say.');
    expect(terminal.screen()).not.toContain('queued:');
    expect(said(1)).toBe('only the tests');
    terminal.keys('/exit\r');
    expect((await terminal.ended).code).toBe(0);
  });

  test.each([['Esc', '\u001b'], ['Ctrl-C', '\u0003']])('%s cancels the run, and the conversation goes on', async (_, key) => {
    await stage([{ text: ['Begun', ' never ended'], gate: new Promise(() => undefined) }, { text: 'Here again.' }]);
    await using terminal = await chat();
    terminal.keys('work\r');
    await terminal.see('Begun');
    terminal.keys(key);
    await terminal.see(/^cancelled$/m);
    await terminal.lose('working');
    terminal.keys('go on\r');
    await terminal.see('Here again.');
    expect(await server.requests[0]?.completed).toBe(false);
    terminal.keys('/exit\r');
    expect((await terminal.ended).code).toBe(0);
  });

  test('Ctrl-C twice leaves: 130 from a run, 0 at rest; at rest it clears the line first', async () => {
    await stage([{ text: ['Begun', ' never ended'], gate: new Promise(() => undefined) }]);
    {
      await using terminal = await chat();
      terminal.keys('half a thought');
      await terminal.see('half a thought');
      terminal.keys('\u0003');
      await terminal.lose('half a thought');
      terminal.keys('\u0003');
      await terminal.see('Ctrl-C again to leave');
      terminal.keys('\u0003');
      expect(await terminal.ended).toEqual({ code: 0, cooked: true });
    }
    expect(logs()).toEqual([]);
    await using terminal = await chat();
    terminal.keys('work\r');
    await terminal.see('Begun');
    terminal.keys('\u0003\u0003');
    expect(await terminal.ended).toEqual({ code: 130, cooked: true });
  });

  test('a question is asked with its diff, what was being written stays, and no other key is an answer', async () => {
    const call = { name: 'write_file', arguments: { path: 'note.txt', content: 'one\ntwo\n' } };
    await stage([{ text: ['I write it.', ' Now.'], toolCalls: [call] }, { text: 'Written.' }, { toolCalls: [call] }, { text: 'Left alone.' }]);
    await using terminal = await chat();
    terminal.keys('write\rlater');
    await terminal.see('+two');
    await terminal.see('[y/N]');
    expect(existsSync(join(place.workspace, 'note.txt'))).toBe(false);
    // What is typed before the question can have been read does not count: here it is typed until it does.
    for (let tries = 0; tries < 100 && !terminal.screen().includes('y or n, then Enter'); tries += 1) {
      terminal.keys('x\r');
      await terminal.see(/\[y\/N\]/);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await terminal.see('y or n, then Enter');
    terminal.keys('yes\r');
    await terminal.see('Written.');
    expect(readFileSync(join(place.workspace, 'note.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(place.events().find(({ type }) => type === 'tool.answer')?.data).toMatchObject({ allowed: true, by: 'person' });
    await terminal.see(/^› later/m);
    terminal.keys('\u0015/exit\r');
    expect((await terminal.ended).code).toBe(0);
  });

  test('pastes arrive as one message, with their tabs; a long one is a chip', async () => {
    await stage([{ text: 'Short.' }, { text: 'Long.' }]);
    await using terminal = await chat();
    terminal.keys('\u001b[200~one\n\ttwo\nthree\u001b[201~\r');
    await terminal.see('Short.');
    expect(said(0)).toBe('one\n\ttwo\nthree');
    const lines = Array.from({ length: 120 }, (_, at) => `line ${at}\tend`).join('\r');
    terminal.keys(`look: \u001b[200~${lines}\u001b[201~`);
    await terminal.see(/look: \[paste #1 \+120 lines\]/);
    terminal.keys('\r');
    await terminal.see('Long.');
    expect(said(1)).toBe(`look: ${lines.replaceAll('\r', '\n')}`);
    expect(terminal.screen()).toContain('… 113 more lines');
    expect(server.requests).toHaveLength(2);
    terminal.keys('/exit\r');
    await terminal.ended;
  });

  test('lines are joined by a backslash, Alt-Enter and Ctrl-J; history goes on with the next chat, but for what begins with a blank', async () => {
    await stage([{ text: 'Answer.' }, { text: 'Secret answer.' }, { text: 'Answer again.' }]);
    {
      await using terminal = await chat();
      terminal.keys('one\\\rtwo\u001b\rthree\nfour\r');
      await terminal.see('Answer.');
      await terminal.see('1 round');
      expect(said(0)).toBe('one\ntwo\nthree\nfour');
      terminal.keys(' not kept\r');
      await terminal.see('Secret answer.');
      terminal.keys('/exit\r');
      await terminal.ended;
    }
    const file = join(place.home, 'state', 'chat-history.jsonl');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe('"one\\ntwo\\nthree\\nfour"\n"/exit"\n');
    await using terminal = await chat();
    terminal.keys('\u001b[A');
    await terminal.see(/^› \/exit/m);
    terminal.keys('\u001b[A');
    await terminal.see(/^› one\n  two\n  three$/m);
    terminal.keys('\u001b[B\u001b[B\u001b[B\u001b[B\u001b[B\u0003');
    terminal.keys('\u0004');
    await terminal.ended;
  });

  test('Tab completes commands and files; a file goes with the message', async () => {
    await stage([{ text: 'Read.' }]);
    place.write({ 'src/needle.ts': 'export const needle = 1;\n', '.gitignore': 'ignored*\n', 'ignored-needle.ts': '' });
    await using terminal = await chat();
    terminal.keys('/stat');
    await terminal.see('→ /status');
    terminal.keys('\t');
    await terminal.see(/^› \/status$/m);
    terminal.keys('\r');
    await terminal.see('asks before it writes or runs\n  folder');
    terminal.keys('what is @need');
    await terminal.see(/→.*needle/);
    expect(terminal.screen()).not.toContain('ignored-needle');
    terminal.keys('\t');
    await terminal.see('what is @src/needle.ts');
    terminal.keys('\r');
    await terminal.see('Read.');
    expect(said(0)).toBe('what is @src/needle.ts\n\n<file path="src/needle.ts">\nexport const needle = 1;\n</file>');
    expect(terminal.screen()).toContain('  + src/needle.ts');
    terminal.keys('/exit\r');
    await terminal.ended;
  });

  test('/clear begins a new session; --continue goes on with the last one and shows where it was', async () => {
    await stage([{ text: 'About apples.' }, { text: 'About pears.' }, { text: 'Pears again.' }]);
    {
      await using terminal = await chat();
      terminal.keys('apples\r');
      await terminal.see('About apples.');
      await terminal.see('1 round');
      terminal.keys('/claer\r');
      await terminal.see('did you mean /clear?');
      terminal.keys('/clear\r');
      await terminal.see('a new session');
      terminal.keys('pears\r');
      await terminal.see('About pears.');
      await terminal.see(/1 round[\s\S]*1 round/);
      terminal.keys('/cost\r');
      await terminal.see(/tokens in\s+10/);
      terminal.keys('/context\r');
      await terminal.see('2 messages');
      terminal.keys('/exit\r');
      await terminal.ended;
      expect(terminal.screen()).toContain('20 tokens in · 10 out');
    }
    expect(logs()).toHaveLength(2);
    expect(JSON.stringify(server.requests[1]?.body.messages)).not.toContain('apples');
    await using terminal = await chat(['--continue']);
    await terminal.see('About pears.');
    expect(terminal.screen()).toContain('› pears');
    terminal.keys('more\r');
    await terminal.see('Pears again.');
    expect(JSON.stringify(server.requests[2]?.body.messages)).toMatch(/pears.*About pears.*more/s);
    terminal.keys('/exit\r');
    await terminal.ended;
    expect(logs()).toHaveLength(2);
  });

  test('/model says what is known, keeps the old one where the new one is unknown, and uses another', async () => {
    await stage([{ text: 'Other.' }]);
    await using terminal = await chat();
    terminal.keys('/model\r');
    await terminal.see(/env\/test\s+in use/);
    terminal.keys('/model nowhere/x\r');
    await terminal.see('nowhere');
    terminal.keys('/model env/other\r');
    await terminal.see('the model is env/other');
    terminal.keys('hello\r');
    await terminal.see('Other.');
    expect(server.requests[0]?.body.model).toBe('other');
    terminal.keys('/exit\r');
    await terminal.ended;
  });

  test('a change of size in the middle of an answer leaves one editor and one answer', async () => {
    const held = gate();
    const words = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
    await stage([{ text: [`${words} `, 'and the end 终.'], gate: held.opened }]);
    await using terminal = await chat([], { columns: 100 });
    terminal.keys('hello\r');
    await terminal.see('word59');
    terminal.keys(draft);
    await seeDraft(terminal, 100);
    for (const columns of [60, 40, 120]) {
      terminal.resize(columns, 30);
      await seeDraft(terminal, columns);
    }
    for (const columns of [70, 45, 90, 100]) terminal.resize(columns, 30);
    await seeDraft(terminal, 100);
    held.open();
    await terminal.see('and the end 终.');
    terminal.keys('\u0015/exit\r');
    await terminal.ended;
    const text = terminal.screen().replace(/\s+/g, ' ');
    expect(text.split('word30 ')).toHaveLength(2);
    expect(text).toContain(`${words} and the end 终.`);
    expect(text.split('› hello')).toHaveLength(2);
    expect(text).not.toMatch(/eee|working/);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s in the middle of a run ends it, and the terminal is as it was', async (name, code) => {
    await stage([{ text: ['Begun', ' never ended'], gate: new Promise(() => undefined) }]);
    await using terminal = await chat();
    terminal.keys('work\r');
    await terminal.see('Begun');
    terminal.signal(name);
    expect(await terminal.ended).toEqual({ code, cooked: true });
    expectRestored(terminal.raw());
    expect(place.events().at(-1)).toMatchObject({ type: 'stop', data: { reason: 'cancelled' } });
  });

  test('kill -9 in the middle of a run: the guardian puts the terminal back', async () => {
    await stage([{ text: ['Begun', ' never ended'], gate: new Promise(() => undefined) }]);
    await using terminal = await chat();
    terminal.keys('work\r');
    await terminal.see('Begun');
    terminal.signal('SIGKILL');
    expect(await terminal.ended).toMatchObject({ cooked: true });
  });

  // What the product's own code never does: the process ends, or fails, where nobody waits for it.
  test.each([
    ['process.exit', 'process.exit(9)', 9],
    ['an error nobody catches', "process.removeAllListeners('uncaughtException'); throw new Error('crash')", 1],
  ])('%s in the middle of a run leaves the terminal as it was', async (_, what, code) => {
    await stage([{ text: ['Begun', ' never ended'], gate: new Promise(() => undefined) }]);
    const preload = `data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${what} });`)}`;
    await using terminal = await chat([], { env: { NODE_OPTIONS: `--import=${preload}` } });
    terminal.keys('work\r');
    await terminal.see('Begun');
    terminal.signal('SIGUSR2');
    expect(await terminal.ended).toEqual({ code, cooked: true });
    expectRestored(terminal.raw());
  });

  test('what a model says cannot steer the terminal', async () => {
    await stage([{ text: ['\u001b]0;owned\u0007\u001b[2Jred \u001b[31m', 'text\r\u001b[Aover'] }]);
    await using terminal = await chat();
    terminal.keys('hello\r');
    await terminal.see('red textover');
    expect(terminal.raw()).not.toMatch(/owned|\u001b\[31m/);
    expect(terminal.screen()).toContain('› hello');
    terminal.keys('/exit\r');
    await terminal.ended;
  });

  test('the terminal keeps its memory: nothing clears it', async () => {
    await stage([{ text: Array.from({ length: 80 }, (_, at) => `row ${at}\n`) }]);
    await using terminal = await chat([], { rows: 16 });
    terminal.keys('count\r');
    await terminal.see('row 79');
    terminal.resize(50, 20);
    terminal.keys(draft);
    await seeDraft(terminal, 50);
    terminal.keys('\u0015\u000c');
    await terminal.see(/row 79[\s\S]*\n{5,}›$/);
    terminal.keys('/exit\r');
    await terminal.ended;
    expect(terminal.raw()).not.toContain('\u001b[3J');
    expect(terminal.screen()).toContain('row 0\nrow 1\nrow 2\n');
    expect(terminal.screen().match(/^row \d+$/gm)?.map((row) => row.slice(4))).toEqual(Array.from({ length: 80 }, (_, at) => String(at)));
  });

  test('TERM=dumb: lines, no movement of the cursor, and the same conversation', async () => {
    await stage([{ toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'x\n' } }] }, { text: 'Written.' }, { text: ['Begun', ' never ended'], gate: new Promise(() => undefined) }, { text: 'Here again.' }]);
    await using terminal = await chat([], { env: { TERM: 'dumb' } });
    await terminal.see(/^>$/m);
    terminal.keys('write\n');
    await terminal.see('Allow write_file? [y/N]');
    // Lines that come too early do not count.
    await new Promise((resolve) => setTimeout(resolve, 400));
    terminal.keys('y\n');
    await terminal.see('Written.');
    terminal.keys('work\n');
    await terminal.see('Begun');
    terminal.keys('\u0003');
    await terminal.see(/^cancelled$/m);
    terminal.keys('go \\\non\n');
    await terminal.see('Here again.');
    expect(said(3)).toBe('go \non');
    terminal.keys('\u0004');
    expect(await terminal.ended).toEqual({ code: 0, cooked: true });
    // eslint-disable-next-line no-control-regex -- what is looked for
    expect(terminal.raw()).not.toMatch(/\u001b/);
    expect(terminal.screen()).toContain('agent chat --continue');
  });
});

function expectRestored(raw: string): void {
  const lastOf = (...sequences: string[]): number => Math.max(...sequences.map((sequence) => raw.lastIndexOf(sequence)));
  // Bracketed paste off, the cursor seen, the keyboard as it was.
  expect(lastOf('\u001b[?2004l')).toBeGreaterThan(lastOf('\u001b[?2004h'));
  expect(lastOf('\u001b[?25h')).toBeGreaterThan(lastOf('\u001b[?25l'));
  expect(lastOf('\u001b[<u')).toBeGreaterThan(lastOf('\u001b[>7u'));
  if (raw.includes('\u001b[>4;2m')) expect(lastOf('\u001b[>4;0m')).toBeGreaterThan(lastOf('\u001b[>4;2m'));
}
