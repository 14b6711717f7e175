/**
 * More ways in which a plugin took the process for its own: ids that only become numbers, listeners of others,
 * made-up signals, streams closed under the agent, a listener that made Ctrl-C mean nothing, and escape codes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { startModelServer } from '../support/model-server.ts';

let place: Place;
afterEach(() => place.remove());

const plugin = (body: string) => `import { definePlugin } from 'newt-agent';\nimport fs from 'node:fs';\nexport default definePlugin({}, () => { ${body}; return {}; });\n`;

test.each([
  ['process.kill(String(process.pid))', 'process.kill'],
  ["process.kill({ valueOf: () => process.pid }, 'SIGKILL')", 'process.kill'],
  ["process.kill(-1, 'SIGKILL')", 'process.kill'],
  ["process.kill('0', 'SIGKILL')", 'process.kill'],
  ["process.kill(-fs.readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[2], 'SIGTERM')", 'process.kill'],
  ['process._kill(process.pid, 9)', 'process.kill'],
  ["process.emit('SIGINT', 'SIGINT')", "process.emit('SIGINT')"],
  ["process.emit('SIGTERM', 'nonsense')", "process.emit('SIGTERM')"],
  ["process.emit('uncaughtException', new Error('made up'))", "process.emit('uncaughtException')"],
])('%s is refused, and the run goes on', async (body, named) => {
  await using server = await startModelServer([{ text: 'done' }]);
  place = createPlace(server.url);
  place.plugins({ 'taker.ts': plugin(body) });
  const done = await place.agent(['run', 'go']);
  expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(done.stderr).toContain(named);
});

test.each([
  "process.stdout.emit('error', Object.assign(new Error('x'), { code: 'EPIPE' }))",
  'process.stdout.cork()',
  'fs.closeSync(1)',
  'fs.close(1, () => {})',
  "fs.writeSync(1, 'mine')",
  "for (const name of ['uncaughtException', 'unhandledRejection', 'SIGINT']) for (const one of process.listeners(name)) process.off(name, one); setTimeout(() => { throw new Error('stray') }, 1)",
])('%s does not keep the answer from the person', async (body) => {
  await using server = await startModelServer([{ text: 'done' }]);
  place = createPlace(server.url);
  place.plugins({ 'closer.ts': plugin(body) });
  expect(await place.agent(['run', 'go'])).toMatchObject({ code: 0, stdout: 'done\n' });
});

test('what a plugin writes to standard error goes to its log', async () => {
  await using server = await startModelServer([{ text: 'done' }]);
  place = createPlace(server.url);
  place.plugins({ 'writer.ts': plugin("process.stderr.write('\\u001b[2Jloud'); fs.writeSync(2, 'louder')") });
  const done = await place.agent(['run', 'go']);
  expect(done).toMatchObject({ code: 0, stdout: 'done\n', stderr: expect.not.stringMatching(/loud/) });
  expect(readFileSync(join(place.home, 'state', 'logs', 'writer.log'), 'utf8')).toMatch(/error loud\n.*louder/);
});

test.each(['SIGINT', 'SIGTERM'] as const)('a plugin that listens to %s does not keep it from ending a command', async (signal) => {
  place = createPlace();
  place.plugins({ 'deaf.ts': plugin(`process.on('${signal}', () => {}); process.stdout.isTTY; setInterval(() => {}, 1000); fs.writeFileSync(new URL('up', import.meta.url), '')`).replace('() => { process', 'async () => { process').replace('return {}', 'await new Promise((resolve) => setTimeout(resolve, 1200)); return {}') });
  const done = await place.agent(['plugin', 'list'], {
    onStart(child) {
      const look = setInterval(() => {
        try {
          readFileSync(join(place.home, 'config', 'plugins', 'up'));
        } catch {
          return;
        }
        clearInterval(look);
        child.kill(signal);
      }, 10);
      child.once('exit', () => clearInterval(look));
    },
  });
  expect(done).toMatchObject({ code: signal === 'SIGINT' ? 130 : 143 });
});
