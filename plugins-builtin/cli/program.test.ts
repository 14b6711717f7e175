import { stripVTControlCharacters } from 'node:util';
import type { Invocation } from 'newt-agent';
import { expect, test } from 'vitest';
import { type CommandEntry, runCommandLine, UsageError } from './program.ts';
import { styleFor } from './style.ts';

const ran = (code: number) => async () => code;

const commands = new Map<string, CommandEntry>([
  [
    'run',
    {
      description: 'Work on a task',
      arguments: [{ name: 'task', description: 'What to do', variadic: true }],
      options: [
        { flags: '-m, --model <provider/model>', description: 'Model to use' },
        { flags: '--max-rounds <n>', description: 'Stop after this many rounds' },
        { flags: '--yes', description: 'Ask nothing' },
      ],
      examples: ['agent run "do it"', 'agent run --yes "do it"'],
      run: ran(3),
    },
  ],
  // The group comes last, and one group is described by nobody.
  ['plugin list', { description: 'List plugins', options: [{ flags: '--json', description: 'As JSON' }], run: ran(0) }],
  ['plugin add', { description: 'Add a plugin', arguments: [{ name: 'folder', description: 'Where it lies', required: true }], run: ran(0) }],
  ['plugin', { description: 'Manage plugins' }],
  ['tour', { description: 'Show it', run: ran(0) }],
  ['trust grant', { description: 'Trust it', run: ran(0) }],
]);

async function runLine(...argv: string[]) {
  let printed = '';
  const calls: Invocation[] = [];
  const code = await runCommandLine(argv, commands, {
    version: '1.2.3',
    columns: 80,
    style: styleFor(false, {}),
    print: (text) => void (printed += `${text}\n`),
    run: (run, invocation) => {
      calls.push(invocation);
      return run(invocation);
    },
  });
  return { code, printed: stripVTControlCharacters(printed), calls };
}

const usage = async (...argv: string[]): Promise<{ message: string; command: string }> => {
  const error = await runLine(...argv).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  return { message: (error as UsageError).message, command: (error as UsageError).command };
};

test('without a command, and with --help, the help is the answer', async () => {
  const { code, printed } = await runLine();
  expect(code).toBe(0);
  expect(printed).toMatchInlineSnapshot(`
    "Usage: agent <command> [options]

    A coding agent made of plugins, none of which can take it down.

    Options:
      -V, --version   Show the version
      --safe-mode     Run with built-in plugins only
      -h, --help      Show help

    Commands:
      run [task...]   Work on a task
      plugin          Manage plugins
      tour            Show it
      trust
      help [command]  Show help for a command

    Examples:
      $ agent run "do it"
    "
  `);
  expect((await runLine('--help')).printed).toBe(printed);
  expect((await runLine('help')).printed).toBe(printed);
});

test('every command has a help with its examples', async () => {
  const { code, printed } = await runLine('run', '--help');
  expect(code).toBe(0);
  expect(printed).toMatchInlineSnapshot(`
    "Usage: agent run [options] [task...]

    Work on a task

    Arguments:
      task                          What to do

    Options:
      -m, --model <provider/model>  Model to use
      --max-rounds <n>              Stop after this many rounds
      --yes                         Ask nothing
      --cwd <folder>                Folder whose project counts
      -h, --help                    Show help

    Examples:
      $ agent run "do it"
      $ agent run --yes "do it"
    "
  `);
  expect((await runLine('help', 'run')).printed).toBe(printed);
});

test('a group without a command shows what is in it', async () => {
  const { code, printed } = await runLine('plugin');
  expect(code).toBe(0);
  expect(printed).toMatchInlineSnapshot(`
    "Usage: agent plugin <command> [options]

    Manage plugins

    Options:
      -h, --help    Show help

    Commands:
      list          List plugins
      add <folder>  Add a plugin
    "
  `);
  expect((await runLine('trust')).printed).toContain('grant');
});

test('the exit code is that of the command, which gets its arguments and options by name', async () => {
  const { code, calls } = await runLine('run', 'fix', 'the', 'bug', '-m', 'lab/m', '--max-rounds=7');
  expect(code).toBe(3);
  expect(calls).toEqual([{ arguments: { task: ['fix', 'the', 'bug'] }, options: { model: 'lab/m', maxRounds: '7' } }]);
  expect((await runLine('plugin', 'add', 'x')).calls).toEqual([{ arguments: { folder: 'x' }, options: {} }]);
  expect((await runLine('run')).calls[0]?.arguments).toEqual({ task: [] });
});

test('words after -- are arguments, whatever they look like', async () => {
  expect((await runLine('run', '--', '--yes')).calls[0]).toEqual({ arguments: { task: ['--yes'] }, options: {} });
});

test('every command takes the folder whose project counts, those apart that make their own', async () => {
  expect((await runLine('trust', 'grant', '--cwd', '/x')).calls[0]?.options).toEqual({ cwd: '/x' });
  expect((await runLine('plugin', 'add', 'y', '--cwd=/x')).calls).toEqual([{ arguments: { folder: 'y' }, options: { cwd: '/x' } }]);
  expect(await usage('tour', '--cwd', '/x')).toMatchObject({ message: expect.stringContaining('--cwd') as string });
});

test('examples are broken to the width of the terminal', async () => {
  const long = `agent run "${'many words '.repeat(12).trim()}"`;
  let printed = '';
  const host = { version: '', columns: 60, style: styleFor(false, {}), print: (text: string) => void (printed += text), run: async () => 0 };
  await runCommandLine(['go', '--help'], new Map([['go', { description: 'Goes', examples: [long], run: ran(0) }]]), host);
  expect(printed.split('\n').every((line) => line.length <= 60)).toBe(true);
  expect(printed).toMatch(/^ {2}\$ agent run "many .*\n {4}many words/m);
});

test('--version', async () => {
  expect(await runLine('--version')).toMatchObject({ code: 0, printed: '1.2.3\n' });
});

test.each([
  [['rnu'], "unknown command 'rnu' (did you mean run?)", 'agent'],
  [['plugin', 'lsit'], "unknown command 'lsit' (did you mean list?)", 'agent plugin'],
  [['run', '--modle', 'x'], "unknown option '--modle' (did you mean --model?)", 'agent run'],
  [['help', 'nosuch'], "unknown command 'nosuch'", 'agent'],
  [['help', 'plugin', 'lsit'], "unknown command 'lsit' (did you mean list?)", 'agent plugin'],
  [['nosuch', '--help'], "unknown command 'nosuch'", 'agent'],
  [['--nope'], "unknown option '--nope'", 'agent'],
  [['plugin', 'add'], "missing required argument 'folder'", 'agent plugin add'],
  [['plugin', 'list', 'x'], "too many arguments for 'list'. Expected 0 arguments but got 1: x.", 'agent plugin list'],
  [['run', '-m'], "option '-m, --model <provider/model>' argument missing", 'agent run'],
])('%j makes no sense, and the nearest that does is named', async (argv, message, command) => {
  expect(await usage(...argv)).toEqual({ message, command });
});

test('what stands behind -- reaches the command as it is', async () => {
  const line = ['npm', 'test', '--', '--json', '-h', '--version', '--', 'x'];
  for (const words of [['run', '--', ...line], ['run', '--yes', '--', ...line]]) {
    const { calls } = await runLine(...words);
    expect(calls).toMatchObject([{ arguments: { task: line } }]);
  }
});
