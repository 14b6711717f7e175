/** What people and folders get wrong: each time a clear line and the right exit code, and nothing is lost. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPlace, type Finished, type Place } from '../support/agent-process.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';

let place: Place;
let server: ModelServer;
let calls: { name: string; arguments: object }[];

beforeEach(async () => {
  calls = [];
  server = await startModelServer((_, n) => (n === 0 && calls.length > 0 ? { toolCalls: calls } : { text: 'done' }));
  place = createPlace(server.url);
});
afterEach(async () => {
  await server.close();
  place.remove();
});

/** One `agent: …` line and a hint below it: no stack, nothing on standard output. */
function expectRefusal(done: Finished, ...parts: readonly (string | RegExp)[]): void {
  expect(done, done.stderr).toMatchObject({ code: 2, signal: null, stdout: '' });
  expect(done.stderr).toMatch(/^agent: /);
  expect(done.stderr).not.toMatch(/^\s+at /m);
  expect(done.stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(3);
  for (const part of parts) expect(done.stderr).toMatch(part);
}

describe('configuration', () => {
  const configure = (text: string): void => {
    mkdirSync(join(place.home, 'config'), { recursive: true });
    writeFileSync(join(place.home, 'config', 'config.yaml'), text);
  };

  test('YAML that is none: file, line and column', async () => {
    configure('react:\n  max_rounds: 5\n bad: [1, 2\n');
    expectRefusal(await place.agent(['run', 'go']), /config\.yaml:3:\d+: not valid YAML/);
    expect(server.requests).toHaveLength(0);
  });

  test('an unknown key: file, line, key and what was probably meant', async () => {
    configure('react:\n  max_rounds: 5\n  max_round: 6\n');
    expectRefusal(await place.agent(['run', 'go']), /config\.yaml:3: react\.max_round: no such key; did you mean "max_rounds"\?/);
  });

  test('a value of the wrong type: file, line, key, what was expected and found', async () => {
    configure('react:\n  max_rounds: many\n');
    expectRefusal(await place.agent(['run', 'go']), /config\.yaml:2: react\.max_rounds: .*number.*"many"/);
  });

  test('a variable that is not set', async () => {
    configure('model: "${NO_SUCH_MODEL}"\n');
    expectRefusal(await place.agent(['run', 'go']), /config\.yaml:1: model: the variable NO_SUCH_MODEL is not set/);
  });

  test('a folder in place of the file', async () => {
    mkdirSync(join(place.home, 'config', 'config.yaml'), { recursive: true });
    expectRefusal(await place.agent(['run', 'go']), /config\.yaml.*cannot be read: it is not a file/);
  });

  test('a variable that means an unknown key', async () => {
    expectRefusal(await place.agent(['run', 'go'], { env: { AGENT_REACT__MAX_ROUND: '3' } }), /AGENT_REACT__MAX_ROUND.*did you mean AGENT_REACT__MAX_ROUNDS\?/);
  });

  test('a broken file can be corrected with the command, and is not touched by a wrong one', async () => {
    configure('react:\n  max_rounds: 5 # mine\n');
    expectRefusal(await place.agent(['config', 'set', 'react.max_rounds', 'many']), /react\.max_rounds/);
    expectRefusal(await place.agent(['config', 'set', 'react.max_round', '7']), /did you mean "(react\.)?max_rounds"\?/);
    expect(readFileSync(join(place.home, 'config', 'config.yaml'), 'utf8')).toBe('react:\n  max_rounds: 5 # mine\n');
    expect(await place.agent(['config', 'set', 'react.max_rounds', '7'])).toMatchObject({ code: 0 });
    expect(readFileSync(join(place.home, 'config', 'config.yaml'), 'utf8')).toBe('react:\n  max_rounds: 7 # mine\n');
  });
});

describe('plugins that cannot be used: the rest start, and the list says which and why', () => {
  interface Listed {
    readonly id: string;
    readonly state: string;
    readonly path: string;
    readonly reason: string | null;
  }
  const good = "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'good', version: '1.0.0' }, () => ({ hooks: { 'turn.start': () => {} } }));\n";
  const list = async (): Promise<Listed[]> => {
    place.plugins({ 'zz-good.ts': good });
    const done = await place.agent(['plugin', 'list', '--json']);
    expect(done.code).toBe(0);
    const plugins = JSON.parse(done.stdout) as Listed[];
    expect(plugins.find(({ id }) => id === 'good')).toMatchObject({ state: 'activated' });
    const human = await place.agent(['plugin', 'list']);
    for (const { reason } of plugins) if (reason) expect(human.stdout).toContain(reason.replace(/\s+/g, ' ').slice(0, 60));
    return plugins;
  };
  const state = (state: string, reason: RegExp) => ({ state, reason: expect.stringMatching(reason) as string });

  test('a syntax error', async () => {
    place.plugins({ 'wrong.ts': 'const x = 1;\n\nexport default definePlugin({ id: = });\n' });
    expect((await list()).find(({ id }) => id === 'wrong')).toMatchObject(state('quarantined', /wrong\.ts:3/));
  });

  test('no default export', async () => {
    place.plugins({ 'wrong.ts': 'export const plugin = 1;\n' });
    expect((await list()).find(({ id }) => id === 'wrong')).toMatchObject(state('quarantined', /wrong\.ts.* has no default export made with definePlugin/));
  });

  test('one id in two files of a tier: the first path wins', async () => {
    const named = good.replace("'good'", "'twin'");
    place.plugins({ 'a.ts': named, 'b.ts': named, 'twin/package.json': '{"agent":{"id":"twin"}}', 'twin/index.ts': named });
    const twins = (await list()).filter(({ id, path }) => id === 'twin' || /[ab]\.ts$/.test(path));
    expect(twins).toHaveLength(3);
    expect(twins.filter((twin) => twin.state === 'activated')).toHaveLength(1);
    for (const twin of twins) if (twin.state !== 'activated') expect(twin).toMatchObject(state('refused', /id "?twin"?.* is already taken by .*plugins/));
  });

  test('an engine this version does not satisfy, stated in a file and in a package.json', async () => {
    place.plugins({
      'old.ts': good.replace("id: 'good'", "id: 'old', engine: '^99.0.0'"),
      'older/package.json': '{"agent":{"id":"older","engine":"<0.0.1"}}',
      'older/index.ts': "throw new Error('must not run');\n",
    });
    const plugins = await list();
    expect(plugins.find(({ id }) => id === 'old')).toMatchObject(state('refused', /needs newt-agent \^99\.0\.0, this is \d/));
    expect(plugins.find(({ id }) => id === 'older')).toMatchObject(state('refused', /needs newt-agent <0\.0\.1, this is \d/));
  });

  test('an id that is none, an unreadable package.json, a link to nothing, a file that is binary', async () => {
    place.plugins({ 'Not An Id.ts': good.replace("'good'", "'Not An Id'"), 'broken/package.json': '{"agent": {"id": 7}}', 'broken/index.ts': good, 'noise.js': '\u0000\u0001\u0002' });
    symlinkSync('/nowhere.ts', join(place.home, 'config', 'plugins', 'dangling.ts'));
    const plugins = await list();
    const reasonAt = (end: string): string | null | undefined => plugins.find(({ path }) => path.endsWith(end))?.reason;
    expect(reasonAt('Not An Id.ts')).toContain('is not a plugin id');
    expect(reasonAt('broken')).toMatch(/package\.json: agent\.id: /);
    expect(reasonAt('noise.js')).toMatch(/noise\.js/);
    expect(reasonAt('dangling.ts')).toMatch(/ENOENT|does not exist/);
  });
});

describe('the workspace', () => {
  test('a missing --cwd', async () => {
    expectRefusal(await place.agent(['run', 'go', '--cwd', 'nowhere']), /there is no folder .*nowhere/);
  });

  test('a file as --cwd', async () => {
    place.write({ 'a.txt': '' });
    expectRefusal(await place.agent(['run', 'go', '--cwd', 'a.txt']), /a\.txt is not a folder/);
  });

  test('a current folder that was deleted', async () => {
    const bin = join(import.meta.dirname, '../../plugins-builtin/bin.cjs');
    const child = execFileSync('/bin/sh', ['-c', `mkdir gone && cd gone && rmdir ../gone && "${process.execPath}" "${bin}" run go 2>&1; echo "code $?"`], {
      cwd: place.workspace,
      env: { PATH: process.env['PATH'], HOME: place.root, AGENT_HOME: place.home, AGENT_BASE_URL: server.url, AGENT_MODEL: 'test' },
      encoding: 'utf8',
    });
    expect(child).toMatch(/^agent: the current folder is gone/);
    expect(child).toContain('code 2');
    expect(child).not.toMatch(/^\s+at /m);
  });
});

describe('files that tools meet: an observation, and nothing lost', () => {
  /** Runs the calls, and answers their results in order. */
  const observe = async (...made: { name: string; arguments: object }[]): Promise<{ text: string; isError: boolean }[]> => {
    calls = made;
    const done = await place.agent(['run', '--yes', 'go']);
    expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
    return place.events().flatMap((event) => (event.type === 'tool.result' ? [{ text: event.data.text, isError: event.data.isError }] : []));
  };
  const read = (path: string) => ({ name: 'read_file', arguments: { path } });
  const replace = (path: string) => ({ name: 'replace_in_file', arguments: { path, old_text: 'a', new_text: 'b' } });
  const overwrite = (path: string) => ({ name: 'write_file', arguments: { path, content: 'new\n' } });

  test('a file that is not there', async () => {
    const [seen, changed] = await observe(read('no/such.txt'), replace('no/such.txt'));
    expect(seen).toMatchObject({ isError: true, text: expect.stringMatching(/such\.txt.*(not exist|no file|no such)/i) as string });
    expect(changed?.isError).toBe(true);
  });

  test('links that lead in a circle', async () => {
    symlinkSync('loop', join(place.workspace, 'loop'));
    for (const result of await observe(read('loop'), replace('loop'), overwrite('loop'))) expect(result).toMatchObject({ isError: true, text: expect.stringMatching(/loop/) as string });
  });

  test('a directory where a file is expected', async () => {
    place.write({ 'folder/inside.txt': 'kept' });
    for (const result of await observe(read('folder'), replace('folder'), overwrite('folder'))) {
      expect(result).toMatchObject({ isError: true, text: expect.stringMatching(/folder|director/i) as string });
    }
    expect(readFileSync(join(place.workspace, 'folder/inside.txt'), 'utf8')).toBe('kept');
  });

  test('a FIFO: nobody waits for it', async () => {
    execFileSync('mkfifo', [join(place.workspace, 'pipe')]);
    const results = await observe(read('pipe'), replace('pipe'), overwrite('pipe'), { name: 'grep', arguments: { pattern: 'x' } });
    for (const result of results.slice(0, 3)) expect(result).toMatchObject({ isError: true, text: expect.stringMatching(/pipe|not a regular file/i) as string });
  });

  test('bytes that are no UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('caf'), Buffer.from([0xe9, 0x20, 0xa9, 0x0a])]);
    place.write({ 'latin.txt': bytes });
    const [seen, changed] = await observe(read('latin.txt'), { name: 'replace_in_file', arguments: { path: 'latin.txt', old_text: 'caf', new_text: 'CAF' } });
    expect(seen?.text).toContain('caf');
    expect(changed?.isError).toBe(false);
    expect(readFileSync(join(place.workspace, 'latin.txt'))).toEqual(Buffer.concat([Buffer.from('CAF'), bytes.subarray(3)]));
  });

  test('a file of 100 MB: shown in part or refused, in bounded time, and not changed', async () => {
    place.write({ 'big.txt': 'first line\n' });
    truncateSync(join(place.workspace, 'big.txt'), 100_000_000);
    const started = performance.now();
    const results = await observe(read('big.txt'), replace('big.txt'), { name: 'grep', arguments: { pattern: 'first' } });
    expect(performance.now() - started).toBeLessThan(15_000);
    for (const { text } of results) expect(text.length).toBeLessThan(60_000);
    expect(results[0]?.text).toMatch(/big\.txt|first line/);
    expect(results[1]?.isError).toBe(true);
  });

  test('a file that the system refuses to read', async () => {
    // Root may read everything, so a mode of 000 would prove nothing here.
    symlinkSync('/proc/self/mem', join(place.workspace, 'mem'));
    const [seen] = await observe(read('mem'));
    expect(seen?.isError).toBe(true);
  });

  test('a path with a NUL character, an empty path, a path of 5,000 characters', async () => {
    for (const result of await observe(read('a\0b'), read(''), read('x'.repeat(5_000)))) expect(result.isError).toBe(true);
  });
});

describe('the command line', () => {
  test.each([
    [['rnu', 'go'], /unknown command.*run/],
    [['run', '--jsn', 'go'], /unknown option.*--json/],
    [['plugin', 'lst'], /unknown command.*list/],
    [['config', 'get'], /missing required argument.*key/],
    [['config', 'get', 'react.max_round'], /react\.max_round.*did you mean.*react\.max_rounds/],
    [['plugin', 'add', './nowhere'], /nowhere does not exist/],
    [['plugin', 'remove', 'nothing'], /nothing/],
    [['plugin', 'why', 'tool.befor'], /tool\.before/],
    [['run', '--max-rounds', 'many', 'go'], /--max-rounds takes a whole number/],
    [['run', ''], /there is no task/],
    [['run'], /there is no task/],
  ])('%j', async (args, said) => {
    expectRefusal(await place.agent(args, { input: '' }), said);
    expect(server.requests).toHaveLength(0);
  });

  test('a model that names no provider there is', async () => {
    expectRefusal(await place.agent(['run', '-m', 'nowhere/x', 'go'], { env: { AGENT_BASE_URL: undefined, AGENT_MODEL: undefined } }), /nowhere/);
  });

  test('nothing is configured: the ways there are, and the tour', async () => {
    const done = await place.agent(['run', 'go'], { env: { AGENT_BASE_URL: undefined, AGENT_MODEL: undefined } });
    expect(done).toMatchObject({ code: 2, stdout: '' });
    for (const way of ['AGENT_BASE_URL', 'agent tour']) expect(done.stderr).toContain(way);
  });
});

describe('a home that cannot be written', () => {
  test('a file where the folder should be', async () => {
    rmSync(place.home, { recursive: true, force: true });
    writeFileSync(place.home, 'not a folder');
    expectRefusal(await place.agent(['run', 'go']), new RegExp(place.home));
    expectRefusal(await place.agent(['config', 'set', 'model', 'a/b']), /config\.yaml: cannot be written: .*\n  .*AGENT_HOME/);
    expect(await place.agent(['plugin', 'list'])).toMatchObject({ code: 0 });
    expect(readFileSync(place.home, 'utf8')).toBe('not a folder');
  });

  const isRoot = process.getuid?.() === 0 && canMount();

  test.runIf(isRoot)('a read-only home', async () => {
    const done = await inMount('ro,size=64k');
    expect(done.code, done.stderr).toBe(2);
    expect(done.stderr).toMatch(/^agent: .* cannot be written: .*\n  .*AGENT_HOME/);
    expect(done.stderr).not.toMatch(/^\s+at /m);
  });

  test.runIf(isRoot)('a home on a full disk', async () => {
    const done = await inMount('size=64k', 'dd if=/dev/zero of="$AGENT_HOME/filler" bs=1k count=64 2>/dev/null;');
    expect(done.code, done.stderr).toBe(2);
    expect(done.stderr).toMatch(/^agent: .* cannot be written: ENOSPC.*\n  .*AGENT_HOME/);
    expect(done.stderr).not.toMatch(/^\s+at /m);
  });

  /** Runs the agent with a small file system of its own as home, in a mount namespace of its own. */
  async function inMount(options: string, prepare = ''): Promise<{ code: number; stderr: string }> {
    const bin = join(import.meta.dirname, '../../plugins-builtin/bin.cjs');
    mkdirSync(place.home, { recursive: true });
    const script = `mount -t tmpfs -o ${options} none "$AGENT_HOME" && ${prepare} "${process.execPath}" "${bin}" run go`;
    const { execa } = await import('execa');
    const done = await execa('unshare', ['-m', 'sh', '-c', script], {
      cwd: place.workspace,
      reject: false,
      stdin: 'ignore',
      env: { HOME: place.root, AGENT_HOME: place.home, AGENT_BASE_URL: server.url, AGENT_MODEL: 'test' },
    });
    return { code: done.exitCode ?? -1, stderr: done.stderr };
  }
});

function canMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
