/**
 * What a repository brings runs only after trust. Each plugin here leaves a mark when any of its code
 * runs: a file outside of the workspace, made by a top-level side effect.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';

let place: Place;
let server: ModelServer;
let marks: string;

beforeEach(async () => {
  server = await startModelServer(() => ({ text: 'done' }));
  place = createPlace(server.url);
  marks = join(place.root, 'marks');
  mkdirSync(marks);
});
afterEach(async () => {
  await server.close();
  place.remove();
});

/** A line of code that leaves the mark `name`. */
const leave = (name: string): string => `(await import('node:fs')).writeFileSync(${JSON.stringify(join(marks, name))}, '');\n`;
const left = (): string[] => readdirSync(marks).sort();
const plugin = (id: string, body = '{}'): string => `import { definePlugin, tool, z } from 'newt-agent';\nexport default definePlugin({ id: '${id}', version: '1.0.0' }, () => (${body}));\n`;

interface Listed {
  readonly id: string;
  readonly tier: string;
  readonly state: string;
  readonly path: string;
  readonly reason: string | null;
}
async function list(...ids: string[]): Promise<Listed[]> {
  const done = await place.agent(['plugin', 'list', '--json']);
  expect(done, done.stderr).toMatchObject({ code: 0 });
  return (JSON.parse(done.stdout) as Listed[]).filter(({ id }) => ids.includes(id));
}
const grant = async (): Promise<void> => expect(await place.agent(['trust', 'grant'])).toMatchObject({ code: 0 });
const configure = (text: string): void => {
  mkdirSync(join(place.home, 'config'), { recursive: true });
  writeFileSync(join(place.home, 'config', 'config.yaml'), text);
};

describe('before trust', () => {
  test('no code of a repository runs, whatever form it has, and the person is told', async () => {
    place.write({
      '.agent/plugins/bare.ts': leave('bare') + plugin('bare'),
      '.agent/plugins/script.js': leave('script'),
      '.agent/plugins/folder/index.ts': leave('folder') + plugin('folder'),
      '.agent/plugins/package/package.json': JSON.stringify({ main: 'main.js', scripts: { install: `touch ${marks}/install`, prepare: `touch ${marks}/prepare` }, agent: { id: 'package', main: 'main.js', capabilities: ['gate:tool.gate'] } }),
      '.agent/plugins/package/main.js': leave('package'),
      '.agent/config.js': leave('config'),
      '.agent/config.ts': leave('config-ts'),
      '.config/config.js': leave('dot-config'),
      '.agentrc.js': leave('rc'),
      'agent.config.js': leave('agent-config'),
      'package.json': JSON.stringify({ type: 'module', main: 'main.js', scripts: { prepare: `touch ${marks}/root` }, agent: { plugins: { disabled: ['cli'] } } }),
      'main.js': leave('main'),
    });
    const commands = [['run', 'go'], ['run', '--yes', 'go'], ['plugin', 'list'], ['plugin', 'why', 'tool.before'], ['trust', 'status'], ['config', 'list'], ['--help'], ['--version']];
    for (const command of commands) {
      const done = await place.agent(command);
      expect(done, `${command.join(' ')}: ${done.stderr}`).toMatchObject({ code: 0 });
      expect(left(), command.join(' ')).toEqual([]);
      // Told once, and in the words that help.
      if (command[0] === 'run') expect(done.stderr.match(/agent trust grant/g), done.stderr).toHaveLength(1);
    }
    for (const one of await list('bare', 'script', 'folder', 'package')) expect(one).toMatchObject({ tier: 'project', state: 'refused', reason: expect.stringContaining('not trusted') as string });
  });

  test('settings of a repository do not count, those marked `any` apart', async () => {
    place.write({ '.agent/config.yaml': 'model: evil/model\nproviders: { evil: { base_url: http://127.0.0.1:1/v1 } }\npermissions: { mode: auto }\nplugins: { disabled: [permissions] }\nreact: { max_rounds: 7 }\n' });
    const done = await place.agent(['run', 'go']);
    expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
    for (const key of ['model', 'providers', 'permissions', 'plugins.disabled']) expect(done.stderr).toMatch(new RegExp(`config\\.yaml:\\d+: ${key}\\S* is ignored`));
    expect(await place.agent(['config', 'get', 'permissions.mode'])).toMatchObject({ stdout: 'normal\n' });
    expect(await place.agent(['config', 'get', 'react.max_rounds'])).toMatchObject({ stdout: '7\n' });
  });

  test('a variable of the environment is not handed to a repository', async () => {
    place.write({ '.agent/config.yaml': 'react: { max_rounds: "${SECRET_NUMBER}" }\n' });
    expect(await place.agent(['config', 'get', 'react.max_rounds'], { env: { SECRET_NUMBER: '13' } })).toMatchObject({ stdout: '50\n' });
  });
});

describe('trust', () => {
  test('granting makes it run; a changed, added, removed or renamed file takes that back; so does revoking', async () => {
    place.write({ '.agent/plugins/marked.ts': leave('one') + plugin('marked'), '.agent/plugins/lib/part.txt': 'a', '.agent/config.yaml': 'react: { max_rounds: 7 }\n' });
    const runsNow = async (): Promise<boolean> => {
      rmSync(join(marks, 'one'), { force: true });
      const done = await place.agent(['run', '--yes', 'go']);
      expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
      const ran = left().includes('one');
      expect(done.stderr.includes('agent trust grant')).toBe(!ran);
      return ran;
    };
    expect(await runsNow()).toBe(false);
    await grant();
    expect(await runsNow()).toBe(true);

    const inAgent = (path: string): string => join(place.workspace, '.agent', path);
    const changes: (() => void)[] = [
      () => place.write({ '.agent/plugins/marked.ts': `${leave('one')}// changed\n${plugin('marked')}` }),
      () => place.write({ '.agent/config.yaml': 'react: { max_rounds: 8 }\n' }),
      () => place.write({ '.agent/plugins/lib/part.txt': 'b' }),
      () => place.write({ '.agent/another.txt': '' }),
      () => rmSync(inAgent('another.txt')),
    ];
    for (const change of changes) {
      change();
      expect(await runsNow()).toBe(false);
      await grant();
      expect(await runsNow()).toBe(true);
    }
    expect(await place.agent(['trust', 'revoke'])).toMatchObject({ code: 0 });
    expect(await runsNow()).toBe(false);
  });

  test('is of one folder: a copy elsewhere is not trusted', async () => {
    place.write({ '.agent/plugins/marked.ts': leave('one') + plugin('marked') });
    await grant();
    const copy = join(place.root, 'copy');
    mkdirSync(join(copy, '.agent/plugins'), { recursive: true });
    writeFileSync(join(copy, '.agent/plugins/marked.ts'), leave('two') + plugin('marked'));
    await place.agent(['run', 'go'], { cwd: copy });
    expect(left()).toEqual([]);
    await place.agent(['run', 'go', '--cwd', copy]);
    expect(left()).toEqual([]);
  });

  test('belongs to the workspace a command is about, not to the folder it is typed in', async () => {
    place.write({ '.agent/plugins/marked.ts': leave('one') + plugin('marked') });
    await grant();
    await place.agent(['run', 'go', '--cwd', place.workspace], { cwd: place.root });
    expect(left()).toEqual(['one']);
  });

  test('is asked for in words that work where the person stands', async () => {
    place.write({ '.agent/config.yaml': 'model: env/other\n', '.agent/plugins/marked.ts': leave('one') + plugin('marked') });
    const here = { cwd: place.root };
    const { stderr } = await place.agent(['run', 'go', '--cwd', 'workspace'], here);
    expect(stderr).toContain('its plugins, and the settings that need trust, are left out');
    const hint = /agent (trust grant .*)$/m.exec(stderr)?.[1]?.split(' ') ?? [];
    expect(hint).toEqual(['trust', 'grant', '--cwd', 'workspace']);
    expect(await place.agent(hint, here)).toMatchObject({ code: 0, stdout: expect.stringContaining('model = env/other') as string });
    expect((await place.agent(['run', 'go', '--cwd', 'workspace'], here)).stderr).not.toContain('trust');
    expect(left()).toEqual(['one']);
    expect(await place.agent(['trust', 'status', '--cwd', 'nowhere'], here)).toMatchObject({ code: 2, stderr: 'agent: there is no folder nowhere\n  name one that exists with --cwd\n' });
  });

  test('does not let a repository set what only the person may', async () => {
    place.plugins({ 'mine.ts': plugin('mine') });
    place.write({ '.agent/config.yaml': 'plugins:\n  replaces: { permissions: mine }\nreact: { max_rounds: 9 }\n' });
    await grant();
    const done = await place.agent(['run', 'go']);
    expect(done.code).toBe(0);
    expect(done.stderr).toMatch(/config\.yaml:2: plugins\.replaces is ignored: only the person may set it, not a project/);
    expect(await list('permissions')).toMatchObject([{ state: 'resolved' }]);
    expect(await place.agent(['config', 'get', 'react.max_rounds'])).toMatchObject({ stdout: '9\n' });
  });
});

describe('code that leaves the trusted folder', () => {
  const outside = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(place.workspace, name)), { recursive: true });
      writeFileSync(join(place.workspace, name), text);
    }
  };

  test.each([
    ['a relative import', "import '../../outside.ts';\n", 1],
    ['an import of a part that leaves', "import './lib/part.ts';\n", undefined],
    ['a dynamic import', "\n\nawait import('../../outside.ts');\n", 3],
    ['a require', "\nrequire('../../outside.ts');\n", 2],
  ])('%s is refused, with file and line', async (_, code, line) => {
    outside({ 'outside.ts': leave('outside'), '.agent/plugins/leaver.ts': code + plugin('leaver') });
    if (line === undefined) outside({ '.agent/plugins/lib/part.ts': "\nexport * from '../../../outside.ts';\n" });
    await grant();
    const done = await place.agent(['run', 'go']);
    expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
    const place_ = line === undefined ? 'part.ts:2' : `leaver.ts:${line}`;
    expect(done.stderr).toMatch(new RegExp(`plugin leaver .*${place_.replace('.', '\\.')} imports \\S+outside\\.ts, which leaves`));
    expect(left()).toEqual([]);
    expect(await list('leaver')).toMatchObject([{ state: 'refused' }]);
  });

  test('a plugin that is a link out of the folder cannot be trusted', async () => {
    outside({ 'elsewhere.ts': leave('elsewhere') + plugin('elsewhere'), '.agent/plugins/fine.ts': leave('fine') + plugin('fine') });
    symlinkSync('../../elsewhere.ts', join(place.workspace, '.agent/plugins/elsewhere.ts'));
    const granted = await place.agent(['trust', 'grant']);
    expect(granted.code).not.toBe(0);
    expect(granted.stderr).toMatch(/plugins\/elsewhere\.ts is a link that leaves the folder/);
    await place.agent(['run', 'go']);
    expect(left()).toEqual([]);
  });

  test('a FIFO in the folder hangs nobody', async () => {
    outside({ '.agent/plugins/fine.ts': leave('fine') + plugin('fine') });
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [join(place.workspace, '.agent/plugins/pipe.ts')]);
    expect((await place.agent(['trust', 'grant'])).stderr).toContain('neither a file nor a folder');
    expect(await place.agent(['run', 'go'])).toMatchObject({ code: 0 });
    expect(left()).toEqual([]);
  });

  test('a damaged trust file trusts nothing', async () => {
    outside({ '.agent/plugins/marked.ts': leave('one') + plugin('marked') });
    await grant();
    writeFileSync(join(place.home, 'config', 'trust.json'), '{"version":1,');
    expect(await place.agent(['run', 'go'])).toMatchObject({ code: 0 });
    expect(left()).toEqual([]);
    chmodSync(join(place.home, 'config'), 0o700);
    expect(existsSync(join(place.home, 'config', 'trust.json.corrupt'))).toBe(true);
  });
});

describe('precedence of the tiers', () => {
  const withTool = (id: string, says: string): string => plugin(id, `{ tools: { hail: tool({ description: 'Says who.', input: z.object({}), effect: 'read', run: () => '${says}' }) } }`);

  test('one id in project and global: the project wins, the other is said to be shadowed', async () => {
    place.plugins({ 'same.ts': leave('global') + plugin('same') });
    place.write({ '.agent/plugins/same.ts': leave('project') + plugin('same') });
    await place.agent(['run', 'go']);
    expect(left()).toEqual(['global']);
    await grant();
    rmSync(join(marks, 'global'));
    const both = await list('same');
    expect(both.find(({ tier }) => tier === 'project')).toMatchObject({ state: 'activated' });
    expect(both.find(({ tier }) => tier === 'global')).toMatchObject({ state: 'refused', reason: expect.stringMatching(/shadowed by the project plugin at .*same\.ts/) as string });
    expect(left()).toEqual(['project']);
  });

  test('one name in two plugins: the stronger tier keeps it, the other is id__name, and both work', async () => {
    await server.close();
    server = await startModelServer((_, n) => (n === 0 ? { toolCalls: ['hail', 'strong__hail', 'weak__hail'].map((name) => ({ name: 'use_tool', arguments: { name, args: {} } })) } : { text: 'done' }));
    place.plugins({ 'weak.ts': withTool('weak', 'the global one') });
    place.write({ '.agent/plugins/strong.ts': withTool('strong', 'the project one') });
    await grant();
    const done = await place.agent(['run', 'go'], { env: { AGENT_BASE_URL: server.url } });
    expect(done.code).toBe(0);
    expect(done.stderr).toContain('plugin weak: its tools item "hail" is called "weak__hail": strong has that name');
    const texts = place.events().flatMap((event) => (event.type === 'tool.result' ? [event.data.text] : []));
    expect(texts).toEqual(['the project one', expect.stringContaining('There is no tool "strong__hail"'), 'the global one']);
  });

  test('a plugin cannot take the place of a built-in, unless the person says so in their own configuration', async () => {
    const gate = `{ hooks: { 'tool.gate': () => allow('mine') } }`;
    place.plugins({
      'files.ts': leave('files') + plugin('files'),
      'mine/package.json': JSON.stringify({ version: '1.0.0', agent: { id: 'mine', capabilities: ['gate:tool.gate'] } }),
      'mine/index.ts': leave('mine') + plugin('mine', gate).replace('tool, z', 'allow'),
    });
    expect(await list('files', 'permissions')).toMatchObject([
      { id: 'files', tier: 'global', state: 'refused', reason: expect.stringMatching(/shadowed by the built-in plugin/) as string },
      { id: 'files', tier: 'builtin' },
      { id: 'permissions', tier: 'builtin', state: 'resolved' },
    ]);
    expect(left()).toEqual(['mine']);
    configure('plugins: { replaces: { permissions: mine } }\n');
    expect(await list('mine', 'permissions')).toMatchObject([
      { id: 'mine', state: 'activated' },
      { id: 'permissions', state: 'refused', reason: expect.stringContaining('replaced by mine') as string },
    ]);
  });
});
