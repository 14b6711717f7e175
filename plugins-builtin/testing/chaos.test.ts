/** Chaos finds every class of problem, and finds none where there is none. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allow, command, definePlugin, defineService, type PluginContext, type PluginDefinition, tool, z } from 'newt-agent';
import { chaos, type ChaosOptions, type ChaosReport } from 'newt-agent/testing';
import { describe, expect, test } from 'vitest';
import template from '../../plugin-template/index.ts';

type Setup = Parameters<typeof definePlugin>[1];

const of = (setup: (p: PluginContext) => unknown, facts: object = { capabilities: ['exec', 'net', 'fs:write'] }): PluginDefinition => definePlugin({ id: 'probed', ...facts } as never, setup as Setup);
const toolOf = (run: (input: { name: string }, call: { signal: AbortSignal; fail(message: string): never }, p: PluginContext) => unknown, more: object = {}): PluginDefinition =>
  of((p) => ({ tools: { probed: tool({ description: 'd', input: z.object({ name: z.string() }), effect: 'read', run: (input, call) => run(input, call, p) as string, ...more }) } }));
const hookOf = (hook: string, run: unknown, facts?: object): PluginDefinition => of(() => ({ hooks: { [hook]: run } }), facts);

/** Fewer rounds, as most of these are about calls; and time, as the machine may be busy. */
const quick: ChaosOptions = { rounds: 2, deadline: 150, limit: 30_000 };

async function problemsOf(plugin: PluginDefinition, options: ChaosOptions = quick): Promise<ChaosReport> {
  const report = await chaos(plugin, options);
  expect(report.ok).toBe(false);
  expect(report.toString()).toContain('✗');
  return report;
}

describe('no false alarm', () => {
  test('the plugin of the README', async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const file = join(mkdtempSync(join(tmpdir(), 'newt-chaos-test-')), 'git-state.ts');
    writeFileSync(file, /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '');
    const report = await chaos(file, { limit: 20_000 });
    expect(report.toString()).toMatch(/^git-state: holds in chaos \(\d+ calls of 2 parts, 50 rounds of setup and end, [\d.]+ s\)$/);
    expect(report).toMatchObject({ ok: true, problems: [], remarks: [], callables: ['hook prompt.build', 'tools/git_status'], rounds: 50 });
  });

  test('the template', async () => {
    expect((await chaos(template, { limit: 30_000 })).toString()).toContain('hello: holds in chaos');
  });

  const good: Readonly<Record<string, PluginDefinition>> = {
    'an operational failure': toolOf((_, call) => call.fail('no such branch')),
    'everything p has, handed the signal': of((p) => {
      p.every(60_000, () => void p.state.get('n'));
      return {
        tools: {
          all: tool({
            description: 'd',
            input: z.object({ url: z.url(), count: z.int().min(1).max(5), kind: z.enum(['a', 'b']), list: z.array(z.string()).optional() }),
            effect: 'net',
            async run({ url }, call) {
              const answer = await p.fetch(url, { signal: call.signal });
              if (!answer.ok) return call.fail(`${url} answered ${answer.status}`);
              const text = await p.exec('git', ['log'], { signal: call.signal });
              p.state.set('last', text);
              await p.fs.write(await call.resolve('a.txt', 'write'), text);
              return `${text}${await answer.text()}`;
            },
          }),
        },
        hooks: { 'tool.after': (result: { text: string; isError: boolean }) => (result.isError ? { ...result, text: `${result.text}!` } : result), 'model.delta': () => {}, notify: async () => {} },
        commands: { hi: command({ description: 'd', arguments: [{ name: 'who', description: 'w', required: true }], run: ({ arguments: { who } }, { io }) => (io.print(String(who)), 0) }) },
      };
    }),
    'a gate': hookOf('tool.gate', () => allow(), { capabilities: ['gate:tool.gate'] }),
    'a command that serves until it is told to end': of(() => ({ commands: { serve: command({ description: 'd', run: (_, { signal }) => new Promise((resolve) => (signal.aborted ? resolve(0) : signal.addEventListener('abort', () => resolve(0)))) }) } })),
  };
  test.each(Object.keys(good).filter((name) => !name.includes('serves')))('%s', async (name) => {
    expect((await chaos(good[name] as PluginDefinition, { rounds: 5, limit: 30_000 })).toString()).toMatch(/^probed: holds in chaos/);
  });

  test('what must not be called is skipped, and said so', async () => {
    const report = await chaos(good['a command that serves until it is told to end'] as PluginDefinition, { ...quick, skip: ['commands/serve'] });
    expect(report).toMatchObject({ ok: true, callables: [], remarks: ['commands/serve was skipped'] });
  });

  test('a service of another plugin is no problem, and is told', async () => {
    const other = defineService<object>('other.service');
    const report = await chaos(toolOf((_, __, p) => String(p.use(other))), quick);
    expect(report).toMatchObject({ ok: true, remarks: ['tools/probed.run was not tried: the service other.service is not provided in chaos'] });
  });
});

describe('a call', () => {
  test('that throws on some input: with the line, the input, and what a person sees', async () => {
    const report = await problemsOf(toolOf(({ name }) => (JSON.parse(name) as { a: string }).a));
    expect(report.problems[0]).toMatchObject({ where: 'tools/probed.run', what: expect.stringMatching(/SyntaxError.* \(plugins-builtin\/testing\/chaos\.test\.ts:\d+\)$/) as string, when: expect.stringMatching(/^given \{"name":/) as string, told: expect.stringMatching(/^plugin probed: tools\/probed: threw SyntaxError/) as string });
    expect(report.toString()).toContain('a person sees: plugin probed');
  });

  test('that throws in a hook for an extreme of the right type', async () => {
    const report = await problemsOf(hookOf('tool.before', (use: { input: { name: string } }) => (use.input.name.trim(), use)));
    expect(report.problems[0]).toMatchObject({ where: 'hook tool.before', what: expect.stringContaining('TypeError') as string });
  });

  test('that changes a frozen payload', async () => {
    const report = await problemsOf(hookOf('prompt.build', (prompt: { sections: object[] }) => (prompt.sections.push({ id: 'a', text: 'b' }), prompt)));
    expect(report.problems[0]?.what).toMatch(/not extensible/);
  });

  test('that answers the wrong type', async () => {
    expect((await problemsOf(toolOf(() => 42))).problems[0]?.what).toMatch(/wrong type/);
    expect((await problemsOf(hookOf('prompt.build', () => undefined))).problems[0]?.what).toMatch(/answered undefined/);
    expect((await problemsOf(of(() => ({ commands: { hi: command({ description: 'd', run: () => 'done' as never }) } })))).problems[0]?.where).toBe('commands/hi.run');
  });

  test('that never settles', async () => {
    const report = await problemsOf(toolOf(() => new Promise(() => {})));
    expect(report.problems).toMatchObject([{ where: 'tools/probed.run', what: expect.stringMatching(/did not settle within 150 ms \(chaos waits/) as string }]);
    expect((await problemsOf(hookOf('turn.start', () => new Promise(() => {})))).problems[0]?.where).toBe('hook turn.start');
  });

  test('that loops for ever', async () => {
    const report = await problemsOf(hookOf('turn.start', () => { for (;;); }), quick);
    expect(report.problems[0]).toMatchObject({ where: 'hook turn.start', what: expect.stringContaining('did not come back') as string });
  });

  test('that leaves a rejection nobody handles', async () => {
    const report = await problemsOf(toolOf(() => (void Promise.reject(new Error('floating')), 'done')));
    expect(report.problems[0]).toMatchObject({ where: 'stray error', what: expect.stringContaining('nobody catches floating') as string });
  });

  test('that ends the process, also where it swallows the refusal', async () => {
    expect((await problemsOf(toolOf(() => process.exit(3) as never))).problems[0]?.what).toContain('process.exit(3)');
    const swallowed = await problemsOf(toolOf(() => {
      try {
        process.exit(4);
      } catch {
        return 'done';
      }
    }));
    expect(swallowed.problems).toMatchObject([{ where: 'process', what: 'called process.exit(4)' }]);
  });

  test('that uses what it did not declare', async () => {
    const report = await problemsOf(of((p) => ({ tools: { probed: tool({ description: 'd', input: z.object({}), effect: 'exec', run: () => p.exec('git') }) } }), {}));
    expect(report.problems[0]?.what).toContain('without the capability "exec"');
  });

  test('whose schema fails by itself', async () => {
    const input = z.object({ name: z.string().refine((name) => JSON.parse(name) !== null) });
    expect((await problemsOf(toolOf(() => 'ok', { input }))).problems[0]?.where).toBe('tools/probed.checkInput');
  });

  test('that registers more each time', async () => {
    let at = 0;
    const report = await problemsOf(of((p) => ({ hooks: { 'turn.start': () => void p.contribute('tools', `t${(at += 1)}`, tool({ description: 'd', input: z.object({}), effect: 'read', run: () => '' })) } })));
    expect(report.problems[0]).toMatchObject({ where: 'hook turn.start', what: expect.stringContaining('registers more with every call') as string });
  });

  test('of p.every that throws', async () => {
    const report = await problemsOf(of((p) => void p.every(1_000, () => { throw new Error('tick'); })));
    expect(report.problems[0]?.what).toContain('tick');
  });
});

describe('a world that does not work', () => {
  test('a failure that is taken for something else', async () => {
    const report = await problemsOf(toolOf(async (_, __, p) => {
      try {
        return await p.exec('git');
      } catch (error) {
        return (error as { response: { text: string } }).response.text;
      }
    }));
    expect(report.problems[0]).toMatchObject({ what: expect.stringContaining('TypeError') as string, when: expect.stringContaining('fail at once') as string });
  });

  test('a program that does not answer, without the signal', async () => {
    const report = await problemsOf(toolOf((_, __, p) => p.exec('git')));
    expect(report.problems).toMatchObject([{ what: expect.stringContaining('hand call.signal on') as string, when: expect.stringContaining('do not answer') as string }]);
  });

  test('an answer nobody expects', async () => {
    for (const run of [
      async (_: unknown, call: { signal: AbortSignal }, p: PluginContext) => String(((await (await p.fetch('http://a.test', { signal: call.signal })).json()) as { a: 1 }).a),
      (_: unknown, __: unknown, p: PluginContext) => String(p.state.get<string>('list')?.split(',').length),
      async (_: unknown, __: unknown, p: PluginContext) => (await p.fs.exists('x.json') ? String(JSON.parse(await p.fs.read('x.json'))) : 'none'),
    ]) {
      const report = await problemsOf(toolOf(run));
      expect(report.problems.map(({ when }) => when).join()).toContain('junk');
    }
  });

  test('a setup that takes a failure for something else, and one that waits for ever', async () => {
    const broken = await problemsOf(of(async (p) => void ((await p.exec('git').catch((error: { code: { a: 1 } }) => error.code.a)) as unknown)), quick);
    expect(broken.problems[0]).toMatchObject({ where: 'setup', when: expect.stringContaining('as the agent starts, while') as string });
    const honest = await chaos(of(async (p) => void (await p.exec('git', ['--version'], { timeout: 100 })), { capabilities: ['exec'] }), quick);
    expect(honest.remarks.join()).toContain('it does not come up');
  });
});

describe('what is left behind', () => {
  const left: Readonly<Record<string, readonly [PluginDefinition, string]>> = {
    'timers that keep nothing alive': [of(() => void setInterval(() => {}, 60_000).unref()), 'leaves timers behind: 10 after 10 rounds'],
    'process listeners': [of(() => void process.on('SIGWINCH', () => {})), 'leaves process listeners: SIGWINCH behind'],
    servers: [of(async () => void (await new Promise<void>((resolve) => createServer().listen(0, '127.0.0.1', resolve).unref()))), 'leaves servers behind'],
    globals: [of(() => void Reflect.set(globalThis, `left${Math.random()}`, 1)), 'leaves globals behind'],
  };
  test.each(Object.keys(left))('%s', async (name) => {
    const [plugin, what] = left[name] as readonly [PluginDefinition, string];
    const report = await problemsOf(plugin, { rounds: 10, limit: 30_000 });
    expect(report.problems).toMatchObject([{ where: 'setup', what: expect.stringContaining(what) as string }]);
    process.removeAllListeners('SIGWINCH');
  });

  test('not what the plugin owns', async () => {
    const report = await chaos(of((p) => {
      const timer = setInterval(() => {}, 1_000);
      p.own({ dispose: () => clearInterval(timer) });
      p.every(1_000, () => {});
    }), { rounds: 10, limit: 30_000 });
    expect(report.toString()).toContain('holds in chaos');
  });
});

test('a plugin that does not come up: why, and where', async () => {
  const report = await problemsOf(of(() => { throw new Error('no settings'); }));
  expect(report.problems).toMatchObject([{ where: 'setup', what: expect.stringContaining('no settings') as string, told: expect.stringContaining('plugin probed is off') as string }]);
  expect((await problemsOf(of(() => ({ hooks: { 'turn.begin': () => {} } })))).problems[0]?.what).toContain('no hook "turn.begin"');
  expect((await problemsOf(of(() => ({}), { config: z.object({ key: z.string() }) }))).problems[0]?.what).toContain('plugins.config.probed.key');
});

test('a schema no random input fits is told, with what to do; an input of the author\'s is tried', async () => {
  const plugin = toolOf(({ name }) => { throw new Error(name); }, { input: z.object({ name: z.string().regex(/^issue #\d{4}$/) }) });
  expect((await chaos(plugin, quick)).remarks).toEqual(['tools/probed was never run: no random input fits its schema. Give some: chaos(plugin, { inputs: { probed: [{ … }] } })']);
  expect((await problemsOf(plugin, { ...quick, inputs: { probed: [{ name: 'issue #1234' }] } })).problems[0]?.what).toContain('issue #1234');
});

test('the same seed finds the same, the process is given back, and time is kept', async () => {
  const plugin = toolOf(({ name }) => (name.length > 1_000 ? (null as never) : name));
  const before = [process.exit, ...process.listeners('unhandledRejection')];
  const [one, two] = [await chaos(plugin, { ...quick, seed: 7 }), await chaos(plugin, { ...quick, seed: 7 })];
  expect(one.problems).toEqual(two.problems);
  expect([process.exit, ...process.listeners('unhandledRejection')]).toEqual(before);
  const slow = await chaos(toolOf(async () => (await new Promise((resolve) => setTimeout(resolve, 100)), 'ok')), { limit: 600, runs: 80 });
  expect(slow.ms).toBeLessThan(6_000);
  expect(slow.remarks).toContain('tools/probed was tried in part: the 600 ms were over. More: chaos(plugin, { limit: … })');
});
