import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, definePlugin, deny, OperationalError, tool, z } from 'newt-agent';
import { bootAgent } from 'newt-agent/testing';
import { expect, test } from 'vitest';

const echo = definePlugin({ id: 'echo', capabilities: ['exec', 'net', 'fs:write', 'env:ECHO_KEY'], config: z.object({ mark: z.string().default('!') }) }, (p) => {
  let turns = 0;
  p.every(1_000, () => {
    turns += 1;
    if (turns === 3) throw new Error('the third turn');
    p.state.set('turns', turns);
  });
  return {
    tools: {
      echo: tool({ description: 'Say it again.', input: z.object({ text: z.string() }), effect: 'read', run: ({ text }) => text + p.config.mark }),
      status: tool({ description: 'Ask git.', input: z.object({}), effect: 'read', run: (_, call) => p.exec('git', ['status'], { cwd: call.session.cwd, signal: call.signal }) }),
      load: tool({ description: 'Load a page.', input: z.object({ url: z.string() }), effect: 'net', run: async ({ url }) => (await p.fetch(url)).text() }),
      note: tool({
        description: 'Write a note.',
        input: z.object({ path: z.string(), text: z.string() }),
        effect: 'write',
        touches: ({ path }) => [{ path, access: 'write' }],
        run: async ({ path, text }, call) => {
          call.log.info(`noting ${path}`);
          p.log.debug('now');
          await p.fs.write(await call.resolve(path, 'write'), text);
          return { text: 'noted', data: { at: p.now(), dice: p.random(), key: p.env('ECHO_KEY') ?? null } };
        },
      }),
      broken: tool({ description: 'Fail.', input: z.object({}), effect: 'read', run: () => JSON.parse('{') as string }),
      missing: tool({ description: 'Fail well.', input: z.object({}), effect: 'read', run: (_, call) => call.fail('no such branch') }),
    },
    hooks: { 'prompt.build': (prompt) => ({ ...prompt, sections: [...prompt.sections, { id: 'echo', text: 'Echo what you like.' }] }) },
    commands: {
      'echo say': command({
        description: 'Say a word.',
        arguments: [{ name: 'word', description: 'The word', required: true }],
        options: [{ flags: '--loud', description: 'In capitals' }],
        run: async ({ arguments: { word }, options }, { io }) => {
          if (!(await io.confirm('Really?'))) throw new OperationalError('not now', { kind: 'configuration', hint: 'say yes' });
          io.print(options['loud'] ? String(word).toUpperCase() : String(word));
          io.say(`heard ${(await io.input()) ?? 'nothing'}`);
          return 0;
        },
      }),
    },
  };
});

test('a tool answers as the loop has it: input checked, configuration applied', async () => {
  await using agent = await bootAgent({ plugins: [echo], config: { plugins: { config: { echo: { mark: '?' } } } } });
  expect(await agent.tool('echo', { text: 'hi' })).toEqual({ text: 'hi?', isError: false, data: undefined });
  expect(await agent.tool('echo', { text: 1 })).toMatchObject({ isError: true, text: expect.stringContaining('do not fit echo: text') as string });
  expect(await agent.tool('echo', { text: 'a', more: 1 })).toMatchObject({ isError: true, text: expect.stringContaining('there is no argument more') as string });
  expect(await agent.tool('ecco')).toMatchObject({ isError: true, text: expect.stringContaining('Did you mean echo') as string });
  expect(agent.plugin('echo')).toMatchObject({ state: 'activated' });
  expect(agent.plugin('echo').contributes).toContain('commands/echo say');
  expect(agent.faults).toEqual([]);
  expect(() => agent.plugin('nobody')).toThrow('there is no plugin nobody');
});

test('programs and requests are noted, and answered by the test', async () => {
  await using agent = await bootAgent({
    plugins: [echo],
    exec: (_, [word]) => (word === 'status' ? 'all clean' : undefined),
    fetch: (url) => (url.endsWith('/json') ? Response.json({ ok: true }) : url.endsWith('/down') ? Promise.reject(new Error('it is down')) : 'a page'),
  });
  expect((await agent.tool('status')).text).toBe('all clean');
  expect(agent.did('exec')).toEqual([{ plugin: 'echo', what: 'exec', file: 'git', args: ['status'], options: { cwd: agent.cwd, signal: expect.any(AbortSignal) as AbortSignal } }]);
  expect((await agent.tool('load', { url: 'http://example.test/' })).text).toBe('a page');
  expect((await agent.tool('load', { url: 'http://example.test/json' })).text).toBe('{"ok":true}');
  expect(await agent.tool('load', { url: 'http://example.test/down' })).toMatchObject({ text: 'it is down', isError: true });
  expect(agent.did('fetch').map(({ url }) => url)).toEqual(['http://example.test/', 'http://example.test/json', 'http://example.test/down']);
  expect(agent.faults).toEqual([]);
});

test('without answers programs run, and requests are refused with what to do', async () => {
  await using agent = await bootAgent({ plugins: [echo] });
  expect((await agent.tool('status')).text).toMatch(/not a git repository/);
  expect(await agent.tool('load', { url: 'http://example.test/' })).toMatchObject({ isError: true, text: expect.stringContaining('bootAgent({ fetch:') as string });
});

test('what a plugin did not declare is refused before the test answers it', async () => {
  const sly = definePlugin({ id: 'sly' }, (p) => ({ tools: { sly: tool({ description: 'Run.', input: z.object({}), effect: 'read', run: () => p.exec('git') }) } }));
  await using agent = await bootAgent({ plugins: [sly], exec: () => 'never' });
  expect((await agent.tool('sly')).text).toContain('without the capability "exec"');
  expect(agent.did('exec')).toEqual([]);
  expect(agent.faults).toMatchObject([{ plugin: 'sly', where: 'tools/sly.run' }]);
});

test('files, state, log, time, chance and environment are the test\'s own', async () => {
  await using agent = await bootAgent({ plugins: [echo], now: 5_000, random: () => 0.25, env: { ECHO_KEY: 'k' }, files: { 'deep/old.txt': 'old' } });
  expect(await agent.tool('note', { path: 'a.txt', text: 'hi' })).toEqual({ text: 'noted', isError: false, data: { at: 5_000, dice: 0.25, key: 'k' } });
  expect(readFileSync(join(agent.cwd, 'a.txt'), 'utf8')).toBe('hi');
  expect(readFileSync(join(agent.cwd, 'deep/old.txt'), 'utf8')).toBe('old');
  expect(agent.did('fs')).toEqual([{ plugin: 'echo', what: 'fs', operation: 'write', path: join(agent.cwd, 'a.txt'), data: 'hi' }]);
  expect(agent.did('log')).toEqual([{ plugin: 'echo', what: 'log', level: 'debug', message: 'now' }]);
  expect(agent.log('echo').join('\n')).toMatch(/noting a\.txt[\s\S]*now/);
  expect(agent.log('nobody')).toEqual([]);
});

test('the gate lets through what the test says, and refuses otherwise', async () => {
  await using agent = await bootAgent({ plugins: [echo] });
  expect(await agent.tool('note', { path: 'a.txt', text: '' }, { allow: false })).toMatchObject({ isError: true, text: expect.stringContaining('said no') as string });
  expect(existsSync(join(agent.cwd, 'a.txt'))).toBe(false);
  expect(await agent.tool('note', { path: '../b.txt', text: 'x' })).toMatchObject({ text: 'noted' });
  const guard = definePlugin({ id: 'guard', capabilities: ['gate:tool.gate'] }, () => ({ hooks: { 'tool.gate': ({ name }) => (name === 'note' ? deny('no notes') : undefined) } }));
  await using guarded = await bootAgent({ plugins: [echo, guard] });
  expect((await guarded.tool('note', { path: 'a.txt', text: '' })).text).toContain('no notes');
});

test('time stands still until the test moves it', async () => {
  await using agent = await bootAgent({ plugins: [echo], now: 0 });
  await agent.clock.tick(999);
  expect(agent.did('state')).toEqual([]);
  await agent.clock.tick(1_001);
  expect(agent.clock.now()).toBe(2_000);
  expect(agent.did('state').map(({ value }) => value)).toEqual([1, 2]);
  await agent.clock.tick(2_000);
  await expect.poll(() => agent.faults).toMatchObject([{ plugin: 'echo', where: 'timer', kind: 'stray', message: 'threw the third turn' }]);
  expect(agent.did('state').at(-1)?.value).toBe(4);
});

test('a command runs with its words, and ends in its code', async () => {
  await using agent = await bootAgent({ plugins: [echo] });
  expect(await agent.command('echo say', ['hi', '--loud'], { confirm: true, input: 'noise' })).toEqual({ code: 0, out: 'HI', err: 'heard noise', questions: ['Really?'] });
  expect(await agent.command('echo say', ['hi'])).toMatchObject({ code: 2, out: '', err: 'agent: not now\n  say yes' });
  expect(await agent.command('echo say')).toMatchObject({ code: 2, err: expect.stringContaining("missing required argument 'word'") as string });
  expect((await agent.command('echo say', ['--help'])).out).toContain('In capitals');
});

test('a task runs to its end, over the script', async () => {
  await using agent = await bootAgent({ plugins: [echo], model: [{ text: 'I try. ', calls: [{ name: 'use_tool', input: { name: 'echo', args: { text: 'hi' } } }] }, 'It said hi.'] });
  const done = await agent.run('say hi');
  expect(done).toMatchObject({ code: 0, reason: 'answered', text: 'It said hi.', tools: [{ name: 'echo', text: 'hi!', isError: false }] });
  expect(done.requests.map(({ results }) => results)).toEqual([[], ['hi!']]);
  expect(done.events.map(({ type }) => type)).toContain('tool.result');
  expect(done.events[0]?.data).toMatchObject({ scripted: true });
  const answered = await agent.run('again', { model: ({ messages }) => `${messages.length} message` });
  expect(answered.text).toBe('1 message');
  expect(await agent.run('more')).toMatchObject({ code: 1, text: expect.stringContaining('the script of the test has 2 replies, and this is request 3') as string });
});

test('the first request: text, tools and bytes', async () => {
  await using agent = await bootAgent({ plugins: [echo] });
  const { system, tools, bytes } = await agent.firstRequest();
  expect(system).toContain('Echo what you like.');
  expect(tools.map(({ name }) => name)).toContain('use_tool');
  expect(bytes.system + bytes.tools).toBeLessThanOrEqual(8_000);
  expect(bytes.tools).toBe(Buffer.byteLength(JSON.stringify(tools.map((one) => ({ type: 'function', ...one })))));
});

test('hooks are called as the agent does', async () => {
  await using agent = await bootAgent({ plugins: [echo] });
  const given = { cwd: '/', sections: [] };
  expect(await agent.hook('prompt.build', given)).toEqual({ cwd: '/', sections: [{ id: 'echo', text: 'Echo what you like.' }] });
  expect(Object.isFrozen(given)).toBe(false);
  expect(await agent.hook('tool.gate', { session: 's', call: 'c', name: 'echo', input: {}, effect: 'exec', paths: [] })).toMatchObject({ verdict: 'ask' });
});

test('a plugin that fails is a fault, told with what to do', async () => {
  await using agent = await bootAgent({ plugins: [echo] });
  expect(await agent.tool('broken')).toMatchObject({ isError: true, text: expect.stringContaining('The plugin echo failed') as string });
  expect(await agent.tool('missing')).toMatchObject({ isError: true, text: 'no such branch' });
  expect(agent.faults).toMatchObject([{ plugin: 'echo', where: 'tools/broken.run', kind: 'threw' }]);
});

test('a folder is loaded as the agent would, and a folder that is no plugin says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'newt-given-'));
  mkdirSync(join(folder, 'good'));
  writeFileSync(join(folder, 'good/package.json'), JSON.stringify({ name: 'agent-plugin-good', version: '2.0.0', agent: { id: 'good', capabilities: ['exec'] } }));
  writeFileSync(join(folder, 'good/index.ts'), "import { definePlugin, tool, z } from 'newt-agent';\nexport default definePlugin({ id: 'good' }, (p) => ({ tools: { good: tool({ description: 'd', input: z.object({}), effect: 'exec', run: () => p.exec('x') }) } }));\n");
  writeFileSync(join(folder, 'bad.ts'), 'export default {\n  id: = 3,\n};\n');
  await using agent = await bootAgent({ plugins: [join(folder, 'good'), join(folder, 'bad.ts')], exec: () => 'ran' });
  expect(agent.plugin('good')).toMatchObject({ state: 'activated', version: '2.0.0' });
  expect((await agent.tool('good')).text).toBe('ran');
  expect(agent.plugin('bad')).toMatchObject({ state: 'quarantined', reason: expect.stringContaining('bad.ts:2') as string });
  await expect(bootAgent({ plugins: [join(folder, 'none')] })).rejects.toThrow('there is no plugin at');
  await expect(bootAgent({ plugins: [folder] })).rejects.toThrow('neither a package.json');
});

test('it leaves nothing behind', async () => {
  let root = '';
  {
    await using agent = await bootAgent({ plugins: [echo] });
    await agent.tool('echo', { text: 'hi' });
    root = join(agent.cwd, '..');
    expect(existsSync(agent.home)).toBe(true);
  }
  expect(existsSync(root)).toBe(false);
});
