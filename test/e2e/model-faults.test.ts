/** What servers and models do wrong, through the built command. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Place } from '../support/agent-process.ts';
import type { ModelServer, Script } from '../support/model-server.ts';
import { wires } from '../support/wires.ts';

describe.each(wires)('over the $name wire', (wire) => {
  let place: Place;
  let server: ModelServer;

  async function stage(script: Script): Promise<void> {
    server = await wire.start(script);
    place = wire.place(server.url);
  }

  afterEach(async () => {
    await server.close();
    place.remove();
  });

  const lastResult = (request: ModelServer['requests'][number] | undefined): string => String(request?.body.messages.at(-1)?.content);

  test('malformed tool arguments become an observation with the text and the reason', async () => {
    await stage([{ toolCalls: [{ name: 'read_file', arguments: '{"path": "a.txt' }] }, { text: 'understood' }]);
    const done = await place.agent(['run', 'go']);
    expect(done).toMatchObject({ code: 0, stdout: 'understood\n' });
    expect(lastResult(server.requests[1])).toContain('could not be read');
  });

  test('an unknown tool becomes an observation', async () => {
    await stage([{ toolCalls: [{ name: 'teleport', arguments: {} }] }, { text: 'understood' }]);
    const done = await place.agent(['run', 'go']);
    expect(done.code).toBe(0);
    expect(lastResult(server.requests[1])).toContain('There is no tool "teleport"');
  });

  test('arguments of the wrong type become an observation that names the field', async () => {
    await stage([{ toolCalls: [{ name: 'read_file', arguments: { path: 7 } }] }, { text: 'understood' }]);
    const done = await place.agent(['run', 'go']);
    expect(done.code).toBe(0);
    expect(lastResult(server.requests[1])).toContain('path');
  });

  test('a connection cut in the middle is tried once more; a script reads only the whole answer', async () => {
    await stage([{ text: ['hel', 'lo wor'], cutAfter: 2 }, { text: 'hello world' }]);
    const done = await place.agent(['run', 'say hello']);
    expect(done).toMatchObject({ code: 0, stdout: 'hello world\n' });
    expect(place.events().filter(({ type }) => type === 'retry')).toMatchObject([{ data: { partial: 'hello wor' } }]);
  });

  test('cut twice: one clear line and exit code 1', async () => {
    await stage([{ text: ['a', 'b'], cutAfter: 1 }, { text: ['a', 'b'], cutAfter: 1 }]);
    const done = await place.agent(['run', 'go']);
    expect(done.code).toBe(1);
    expect(done.stdout).toBe('');
    expect(done.stderr.trim().split('\n').at(-1)).toMatch(/^agent: /);
  });

  test('a tool call cut in the middle never runs twice', async () => {
    await stage([
      { toolCalls: [{ name: 'run_command', arguments: { command: 'echo x >> count.txt' } }], cutAfter: 2 },
      { toolCalls: [{ name: 'run_command', arguments: { command: 'echo x >> count.txt' } }] },
      { toolCalls: [{ name: 'read_file', arguments: { path: 'count.txt' } }] },
      { text: 'once' },
    ]);
    const done = await place.agent(['run', '--yes', 'go']);
    expect(done.code).toBe(0);
    expect(lastResult(server.requests[3]).match(/x/g)).toHaveLength(1);
  });

  test('an empty answer is asked again once, and never ends with exit code 0', async () => {
    await stage([{ text: '' }, { text: '' }]);
    const done = await place.agent(['run', 'go']);
    expect(done.code).toBe(1);
    expect(server.requests).toHaveLength(2);
    expect(done.stderr).toContain('answered nothing');
  });

  describe('configuration: one clear line with the fix, exit code 2', () => {
    test('a wrong key', async () => {
      await stage([{ status: 401, says: 'Incorrect API key provided: sk-secret-1234567890' }]);
      const done = await place.agent(['run', 'go'], { env: { [wire.keyVariable]: 'sk-secret-1234567890' } });
      expect(done.code).toBe(2);
      expect(done.stderr).toContain(wire.keySetting);
      expect(done.stderr).not.toContain('sk-secret-1234567890');
      expect(done.stdout).toBe('');
    });

    test('an unknown model', async () => {
      await stage([{ status: 404, says: 'The model `test` does not exist' }]);
      const done = await place.agent(['run', 'go']);
      expect(done.code).toBe(2);
      expect(done.stderr).toContain('has no model "test"');
      expect(done.stderr).toContain('it has scripted-model');
    });

    test('a dead endpoint', async () => {
      await stage([]);
      const { url } = server;
      await server.close();
      const done = await place.agent(['run', 'go']);
      expect(done.code).toBe(2);
      expect(done.stderr).toContain(url);
      expect(done.ms).toBeLessThan(20_000);
    });

    test('a web page in place of a model', async () => {
      await stage([{ status: 200, body: '<html><body>hello</body></html>' }]);
      const done = await place.agent(['run', 'go']);
      expect(done.code).toBe(2);
      expect(done.stderr).toMatch(/web page/i);
    });
  });

  test('a server that fails: exit code 1, the status is named', async () => {
    await stage([{ status: 500, says: 'overloaded' }]);
    const done = await place.agent(['run', 'go']);
    expect(done.code).toBe(1);
    expect(done.stderr).toContain('500');
  });

  test.each([[429, 'limits the number of requests'], [529, 'failed (529'], [503, 'failed (503']])('a server that answers %i: exit code 1, one line that says so', async (status, words) => {
    await stage([{ status, says: 'too much' }]);
    const done = await place.agent(['run', 'go']);
    expect(done).toMatchObject({ code: 1, stdout: '' });
    expect(done.stderr).toContain(words);
    expect(server.requests).toHaveLength(1);
  });

  describe('cancel', () => {
    test('Ctrl-C in the middle of an answer: exit code 130, the log is whole', async () => {
      let release = (): void => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      await stage([{ text: ['one ', 'two'], gate }]);
      const done = await place.agent(['run', 'go'], {
        onStart: (child) => void server.waitForRequests(1).then(() => setTimeout(() => child.kill('SIGINT'), 200)),
      });
      release();
      expect(done.code).toBe(130);
      expect(place.events().at(-1)).toMatchObject({ type: 'stop', data: { reason: 'cancelled', code: 130 } });
    });

    test('Ctrl-C while a command runs: the command is gone, its call has a result', async () => {
      await stage([{ toolCalls: [{ name: 'run_command', arguments: { command: 'echo $$ > pid; exec sleep 30' } }] }]);
      const done = await place.agent(['run', '--yes', '--json', 'go'], {
        onOutput: (text, child) => void (text.includes('"tool.call"') && setTimeout(() => child.kill('SIGINT'), 300)),
      });
      expect(done.code).toBe(130);
      expect(done.ms).toBeLessThan(15_000);
      const events = place.events();
      expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(1);
      const { readFileSync } = await import('node:fs');
      const pid = Number(readFileSync(`${place.workspace}/pid`, 'utf8'));
      expect(() => process.kill(pid, 0)).toThrow();
    });

    test('Ctrl-C twice quits at once, and the log is still whole', async () => {
      let release = (): void => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      await stage([{ text: ['one ', 'two'], gate }]);
      const done = await place.agent(['run', 'go'], {
        onStart: (child) =>
          void server.waitForRequests(1).then(() => {
            setTimeout(() => child.kill('SIGINT'), 100);
            setTimeout(() => child.kill('SIGINT'), 120);
          }),
      });
      release();
      expect(done.code).toBe(130);
      expect(place.events().length).toBeGreaterThan(2);
    });
  });
});
