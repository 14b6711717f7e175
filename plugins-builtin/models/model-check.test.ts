/** What the doctor hears of the model, from real servers. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Call, Finding, ModelChooser } from 'newt-agent';
import { OperationalError } from 'newt-agent';
import { expect, onTestFinished, test } from 'vitest';
import { endpointAt } from './endpoints.ts';
import { modelCheck } from './model-check.ts';

const chooser: ModelChooser = { choose: () => ({ provider: 'lab', id: 'm', name: 'lab/m', temperature: undefined, maxTokens: undefined }) };

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function found(url: string | undefined, choose = chooser): Promise<Finding | undefined> {
  const endpoint = url === undefined ? undefined : { ...endpointAt('lab', url, 'providers.lab.base_url'), apiKey: 'sk-secret' };
  const [finding] = await modelCheck(choose, () => endpoint, (to, init) => fetch(to, init)).run({ cwd: '/' }, { signal: new AbortController().signal } as Call);
  expect(JSON.stringify(finding)).not.toContain('sk-secret');
  return finding;
}

const list = (...ids: string[]) => JSON.stringify({ data: ids.map((id) => ({ id })) });

test('a server that has the model: one request for the list, with the key, and no tokens', async () => {
  const asked: unknown[] = [];
  const url = await serve((request, response) => {
    asked.push(request.method, request.url, request.headers.authorization);
    response.end(list('a', 'm'));
  });
  expect(await found(url)).toEqual({ level: 'ok', what: 'model', detail: `lab/m at ${url}` });
  expect(asked).toEqual(['GET', '/v1/models', 'Bearer sk-secret']);
});

test.each<[string, RequestListener, Finding['level'], RegExp, RegExp | undefined]>([
  ['does not list it', (_, response) => response.end(list('a', 'b')), 'warn', /does not list m; it has a, b$/, /^agent config set model lab\/a$/],
  ['has no list', (_, response) => response.writeHead(404).end(), 'info', /has no list of models \(404\)/, undefined],
  ['answers something else', (_, response) => response.end('<html>'), 'info', /no list of models/, undefined],
  ['refuses the key', (_, response) => response.writeHead(401).end('bad key sk-secret'), 'error', /does not accept the key \(401\)/, /providers\.lab\.api_key/],
  ['is broken', (_, response) => response.writeHead(503).end(), 'error', /error of its own \(503\)/, /again later/],
  ['sends without end', (_, response) => void setInterval(() => response.write('x'.repeat(500_000)), 1).unref(), 'info', /no list of models/, undefined],
])('a server that %s', async (_, listener, level, detail, fix) => {
  const finding = await found(await serve(listener));
  expect(finding).toMatchObject({ level, what: 'model' });
  expect(finding?.detail).toMatch(detail);
  expect(finding?.fix ?? '').toMatch(fix ?? /^$/);
});

test('nobody answers, a provider of another plugin, no model', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const closed = (server.address() as AddressInfo).port;
  await new Promise((resolve) => server.close(resolve));
  expect(await found(`http://127.0.0.1:${closed}/v1`)).toMatchObject({ level: 'error', detail: expect.stringContaining('cannot be reached') as string, fix: expect.stringContaining('check that the server runs') as string });
  expect(await found(undefined)).toMatchObject({ level: 'info' });
  const none: ModelChooser = { choose: () => Promise.reject(new OperationalError('no model is configured. Any of these will do:\n  - a  x\n  - b', { ways: ['a  x', 'b', 'c', 'd'] })) };
  expect(await found(undefined, none)).toEqual({ level: 'error', what: 'model', detail: 'no model is configured', fix: 'a, or: b, or: c' });
});

test('a server that never answers is given up after 5 seconds', async () => {
  const started = performance.now();
  expect((await found(await serve(() => undefined)))?.detail).toContain('did not answer within 5 s');
  expect(performance.now() - started).toBeLessThan(9_000);
});
