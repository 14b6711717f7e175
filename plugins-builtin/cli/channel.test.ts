/** Command lines through the real kernel. The session is a recorded one. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  channelsPoint,
  checksPoint,
  commandsPoint,
  configControl,
  type Event,
  FaultError,
  KernelError,
  OperationalError,
  type PluginContext,
  type RunResult,
  type SessionOptions,
  sessions,
  z,
} from 'newt-agent';
import { expect, test } from 'vitest';
import { initConfig, setConfigValue } from '../../kernel/config/edit.ts';
import { inspectConfig } from '../../kernel/config/inspect.ts';
import { editorSchema, writeSchema } from '../editor-schema.ts';
import { loadConfig } from '../../kernel/config/load.ts';
import { composeConfig, configKeys } from '../../kernel/config/schema.ts';
import { unsetConfigValue } from '../../kernel/config/unset.ts';
import { boot, type Inline, temporaryFolder } from '../../test/support/boot.ts';
import { serve } from './channel.ts';
import cli from './index.ts';
import { recordEvents, testTerminal, type TestStreams } from './terminal.testing.ts';

const schema = composeConfig({
  model: z.string().optional().meta({ from: 'trusted-project' }),
  providers: z.record(z.string(), z.object({ base_url: z.string(), api_key: z.string().optional() })).default({}).meta({ from: 'user' }),
  react: z.object({ max_rounds: z.int().positive().default(50) }).prefault({}).meta({ from: 'any' }),
});

interface Scene extends TestStreams {
  readonly variables?: Readonly<Record<string, string>>;
  readonly plugins?: readonly Inline[];
  /** What the session does; default: answers `done`. */
  readonly run?: (options: SessionOptions, prompt: string, signal: AbortSignal) => RunResult | Promise<RunResult>;
  readonly open?: () => void;
  /** The log of the last session of the folder. */
  readonly latest?: string;
}

/** Runs command lines one after the other in one home, and answers what each printed and how it ended. */
async function inHome(folder: string, argv: readonly string[], scene: Scene = {}) {
  const project = join(folder, 'work', '.agent', 'config.yaml');
  const files = { global: join(folder, 'config.yaml'), project, empty: join(folder, 'empty') };
  const opened: (SessionOptions & { prompt?: string })[] = [];
  let closed = 0;
  let context: PluginContext | undefined;
  const stage = await boot(
    [
      { id: 'domain', tier: 'builtin', defines: { points: [commandsPoint, channelsPoint, checksPoint] as never } },
      {
        id: 'cli',
        tier: 'builtin',
        setup: (p) => {
          context = p;
          return cli.setup(p as never) as object;
        },
      },
      {
        id: 'agent',
        tier: 'builtin',
        setup: (p) =>
          void p.provide(sessions, {
            open: async (options) => {
              scene.open?.();
              opened.push(options);
              return {
                id: 's',
                file: 's.jsonl',
                run: async (prompt, signal) => {
                  opened.push({ ...options, prompt });
                  return (await scene.run?.(options, prompt, signal)) ?? { reason: 'answered', code: 0, text: 'done' };
                },
                steer: () => undefined,
                status: () => {
                  throw new Error('no command of this file asks');
                },
                useModel: async () => undefined,
                close: async () => void (closed += 1),
              };
            },
            latest: async () => scene.latest,
          }),
      },
      ...(scene.plugins ?? []),
    ],
    { folder },
  );
  const sources = { schema, paths: files, projectTrusted: false, env: scene.variables ?? {} };
  const config = await loadConfig(sources);
  stage.kernel.provide(configControl.key, {
    config,
    keys: () => configKeys(schema),
    globalFile: files.global,
    projectFile: existsSync(join(folder, 'work')) ? project : undefined,
    set: (key: string, value: string, file: string) => setConfigValue(schema, file, key, value),
    unset: async (key: string, file: string) => unsetConfigValue(file, key),
    inspect: () => inspectConfig(sources),
    schema: async (plugins: Record<string, object>) => editorSchema(schema, plugins),
    writeSchema: async (file: string, plugins: Record<string, object>) => writeSchema(schema, file, plugins),
    init: (file: string) => initConfig(schema, file),
  });
  const { terminal, stdout, stderr } = testTerminal({ stdout: 'pipe', stderr: 'pipe', input: '', ...scene });
  const code = await serve(context as PluginContext, argv, terminal);
  await stage.end();
  return { code, stdout: stdout(), stderr: stderr().replaceAll(folder, '~'), task: opened.at(-1), closed };
}

const line = (argv: readonly string[], scene?: Scene) => inHome(temporaryFolder(), argv, scene);

test('unknown words exit with 2, one line and the way to the help', async () => {
  expect(await line(['rnu'])).toMatchObject({ code: 2, stdout: '', stderr: 'agent: unknown command \'rnu\' (did you mean run?)\n  try: agent --help\n' });
  expect(await line(['config', 'get'])).toMatchObject({ code: 2, stderr: "agent: missing required argument 'key'\n  try: agent config get --help\n" });
});

test('commands of a plugin are found when they are named, and failures are told by kind', async () => {
  const plugin: Inline = {
    id: 'extra',
    facts: { activateOn: ['command:extra', 'commands'] },
    setup: () => ({
      commands: {
        'extra ok': { description: 'Works', run: (_: unknown, { io }: { io: { print(text: string): void } }) => (io.print('hello'), 4) },
        'extra news': { description: 'Fails', run: () => Promise.reject(new OperationalError('no network', { hint: 'plug it in' })) },
        'extra bug': { description: 'Throws', run: () => Promise.reject(new Error('boom')) },
      },
    }),
  };
  const scene = { plugins: [plugin] };
  expect(await line(['extra', 'ok'], scene)).toMatchObject({ code: 4, stdout: 'hello\n', stderr: '' });
  expect(await line(['extra', 'news'], scene)).toMatchObject({ code: 1, stderr: 'agent: no network\n  plug it in\n' });
  const bug = await line(['extra', 'bug'], scene);
  expect(bug.code).toBe(1);
  expect(bug.stderr).toMatch(/^agent: plugin extra: .*boom.*\n$/);
  expect((await line(['--help'], scene)).stdout).toMatch(/^  extra$/m);
});

test('run: words, standard input and options make the task', async () => {
  const { code, task, closed } = await line(['run', 'fix', 'it', '-m', 'lab/m', '--max-rounds', '3', '-y', '--cwd', '/'], { input: 'a log\n' });
  expect(code).toBe(0);
  expect(task).toMatchObject({ prompt: 'fix it\n\na log', model: 'lab/m', maxRounds: 3, mode: 'auto', cwd: '/' });
  expect(closed).toBe(1);
  expect((await line(['run'], { input: 'only this' })).task).toMatchObject({ prompt: 'only this', cwd: process.cwd() });
});

test.each([
  [['run'], 'agent: there is no task\n  agent run "what to do"\n'],
  [['run', '  '], 'agent: there is no task\n  agent run "what to do"\n'],
  [['run', 'x', '--max-rounds', '0'], 'agent: --max-rounds takes a whole number above 0, not "0"\n'],
  [['run', 'x', '--cwd', '/nowhere'], 'agent: there is no folder /nowhere\n  name one that exists with --cwd\n'],
  [['run', 'x', '--cwd', '/dev/null'], 'agent: /dev/null is not a folder\n  name a folder with --cwd\n'],
])('%j is a mistake of usage', async (argv, stderr) => {
  expect(await line(argv)).toMatchObject({ code: 2, stdout: '', stderr });
});

test.each([
  ['a model nobody knows', new OperationalError('no model is configured; set one', { kind: 'configuration', hint: 'set one' }), 'agent: no model is configured; set one\n'],
  ['several ways', new OperationalError('no model. Any of these:\n  - a\n  - b', { hint: 'a; b' }), 'agent: no model. Any of these:\n  - a\n  - b\n'],
  ['a missing service', new KernelError('NO_SERVICE', { service: 'x' }), 'agent: the service x is not provided\n  enable a plugin that provides it\n'],
  [
    'a broken provider',
    new FaultError({ kind: 'threw', plugin: 'p', tier: 'npm', where: 'providers/p.model', message: 'boom', place: undefined, fingerprint: '', at: 0, action: 'off', next: 'Fix it.' }),
    /^agent: plugin p: providers\/p\.model: boom.*Fix it\.\n$/,
  ],
])('what keeps a session from opening is one clear line: %s', async (_, error, stderr) => {
  const open = (): never => {
    throw error;
  };
  const ended = await line(['run', 'x'], { open });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toEqual(stderr instanceof RegExp ? expect.stringMatching(stderr) : stderr);
});

test('run --continue goes on with the last session of the folder, and says so where there is none', async () => {
  const before = { input: '', latest: 'old.jsonl' };
  expect((await line(['run', '-c', 'more'], before)).task).toMatchObject({ resume: 'old.jsonl', prompt: 'more' });
  expect((await line(['run', '--continue'], before)).task).toMatchObject({ resume: 'old.jsonl', prompt: 'Go on with the task where it stopped.' });
  const { code, stderr } = await line(['run', '--continue', 'more'], { input: '' });
  expect(code).toBe(2);
  expect(stderr).toMatch(/there is no session of .* to go on with\n.*leave out --continue/);
});

test('a run that did not work out says why, and its code is the exit code', async () => {
  expect(await line(['run', 'x'], { run: () => ({ reason: 'rounds', code: 3, text: 'stopped after 3 rounds' }) })).toMatchObject({ code: 3, stdout: '', stderr: 'agent: stopped after 3 rounds\n' });
  const json = await line(['run', '--json', 'x'], { run: () => ({ reason: 'error', code: 1, text: 'broken' }) });
  expect(json).toMatchObject({ code: 1, stderr: '' });
});

test('--json prints the records, the last of them the stop', async () => {
  const events = recordEvents(['user', { text: 'x' }], ['stop', { reason: 'answered', code: 0, text: 'done' }]);
  const { stdout } = await line(['run', '--json', 'x'], {
    run({ onEvent }) {
      for (const event of events) onEvent?.(event);
      return { reason: 'answered', code: 0, text: 'done' };
    },
  });
  expect(stdout.trimEnd().split('\n').map((text) => JSON.parse(text) as Event)).toEqual(events);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s cancels the run and is the exit code %d', async (name, code) => {
  const before = process.listenerCount(name);
  const ended = await line(['run', 'x'], {
    run: (_, __, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ reason: 'cancelled', code: 130, text: 'cancelled' }));
        process.emit(name, name);
      }),
  });
  expect(ended).toMatchObject({ code, stderr: 'agent: cancelled\n', closed: 1 });
  expect(process.listenerCount(name)).toBe(before);
});

test('an answer that could not be written is a failure', async () => {
  const stderr = 'agent: the output could not be written: ENOSPC: no space left on device\n';
  const run = ({ onEvent }: SessionOptions): RunResult => {
    for (const event of recordEvents(['stop', { reason: 'answered', code: 0, text: 'done' }])) onEvent?.(event);
    return { reason: 'answered', code: 0, text: 'done' };
  };
  expect(await line(['run', 'x'], { full: true, run })).toMatchObject({ code: 1, stderr: expect.stringContaining(stderr) as string });
  expect(await line(['--help'], { full: true })).toMatchObject({ code: 1, stderr });
  expect(await line(['config', 'list'], { full: true })).toMatchObject({ code: 1, stderr });
});

test('config: what is set is listed with its place, without secrets, and read back', async () => {
  const home = temporaryFolder();
  expect(await inHome(home, ['config', 'set', 'model', 'lab/m'])).toMatchObject({ code: 0, stderr: 'set model in ~/config.yaml\n' });
  await inHome(home, ['config', 'set', 'providers.lab.base_url', 'http://me:pass@h/v1?key=hidden']);
  await inHome(home, ['config', 'set', 'providers.lab.api_key', 'sk-1']);
  const listed = await inHome(home, ['config', 'list'], { variables: { AGENT_REACT__MAX_ROUNDS: '7' } });
  expect(listed.stdout.replaceAll(home, '~')).toBe(
    [
      'KEY                     VALUE                             FROM',
      'model                   lab/m                             ~/config.yaml:1',
      'providers.lab.base_url  http://me:********@h/v1?********  ~/config.yaml:4',
      'providers.lab.api_key   ********                          ~/config.yaml:5',
      'react.max_rounds        7                                 $AGENT_REACT__MAX_ROUNDS',
      'plugins.disabled        []                                default',
      'plugins.replaces        {}                                default',
      'plugins.config          {}                                default',
      '',
    ].join('\n'),
  );
  const json = (await inHome(home, ['config', 'list', '--json'])).stdout;
  expect(json).not.toMatch(/sk-1|pass@/);
  expect(JSON.parse(json)).toContainEqual({ key: 'providers.lab.api_key', value: '********', origin: { layer: 'global', file: join(home, 'config.yaml'), line: 5 } });
  expect((await inHome(home, ['config', 'get', 'providers.lab.api_key'])).stdout).toBe('sk-1\n');
  expect((await inHome(home, ['config', 'get', 'react.max_rounds'])).stdout).toBe('50\n');
  expect((await inHome(home, ['config', 'get', 'providers'])).stdout).toContain('"api_key":"********"');
});

test('config: mistakes are named, with the key that was meant', async () => {
  expect(await line(['config', 'get', 'max_round'])).toMatchObject({ code: 2, stderr: 'agent: max_round: no such key; did you mean "react.max_rounds"?\n  agent config list shows every key\n' });
  expect(await line(['config', 'get', 'modle'])).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "model"?') as string });
  expect(await line(['config', 'get', 'model'])).toMatchObject({ code: 1, stdout: '', stderr: 'agent: model is not set\n  agent config set model <value>\n' });
  expect(await line(['config', 'set', 'react.max_rounds', 'many'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/^agent: react\.max_rounds: expected a number/) as string });
  const unknown = { code: 2, stderr: 'agent: react.max_round: no such key; did you mean "react.max_rounds"?\n  agent config list shows every key\n' };
  for (const verb of ['get', 'set']) expect(await line(['config', verb, 'react.max_round', ...(verb === 'set' ? ['7'] : [])])).toMatchObject(unknown);
  expect(await line(['config', 'set', 'providers.lab.base_ur', 'x'])).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "providers.lab.base_url"?') as string });
  expect(await line(['config', 'set', 'model', 'x', '--project'])).toMatchObject({ code: 2, stderr: 'agent: this folder is in no project\n  mkdir .agent makes it one\n' });
});

test('config: a stronger layer is pointed out, and a project cannot set what is for the person', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'work', '.agent'), { recursive: true });
  const set = await inHome(home, ['config', 'set', 'react.max_rounds', '9'], { variables: { AGENT_REACT__MAX_ROUNDS: '7' } });
  expect(set.stderr).toBe('set react.max_rounds in ~/config.yaml\n⚠ $AGENT_REACT__MAX_ROUNDS still decides: it is stronger\n');
  expect(await inHome(home, ['config', 'set', 'providers.x.base_url', 'y', '--project'])).toMatchObject({ code: 2, stderr: 'agent: providers.x.base_url is for you to set, not for a project\n  leave out --project\n' });
  expect((await inHome(home, ['config', 'set', 'model', 'a/b', '--project'])).stderr).toBe('set model in ~/work/.agent/config.yaml\n');
  expect((await inHome(home, ['config', 'list'])).stderr).toBe('⚠ ~/work/.agent/config.yaml:1: model is ignored: the project is not trusted\n');
});

test('config: path and init', async () => {
  const home = temporaryFolder();
  expect((await inHome(home, ['config', 'path'])).stdout.replaceAll(home, '~')).toMatch(/^LAYER +FILE +STATE\nproject +\.\/\.agent\/config\.yaml +none\nglobal +~\/config\.yaml +missing\n$/);
  expect(await inHome(home, ['config', 'init'])).toMatchObject({ code: 0, stderr: 'wrote ~/config.yaml\nwrote ~/config.schema.json, by which editors complete its keys\n' });
  expect(readFileSync(join(home, 'config.yaml'), 'utf8')).toContain('max_rounds');
  expect(await inHome(home, ['config', 'init'])).toMatchObject({ code: 2, stderr: 'agent: ~/config.yaml exists\n  agent config set KEY VALUE changes it\n' });
  expect((await inHome(home, ['config', 'path'])).stdout).toContain('exists');
});
