import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { isOperational } from 'newt-agent';
import { describe, expect, it } from 'vitest';
import type { Reply } from '../../test/support/model-server.ts';
import { endpointAt } from './endpoints.ts';
import { endpointOf, modelAt, options, rejection, testKey, withModel, type ProviderError } from './model.testing.ts';
import { openaiChatModel } from './openai-chat.ts';

const failing = (reply: Reply, models?: readonly string[]): Promise<ProviderError> =>
  withModel([reply], (model) => rejection(model.doStream(options)), { models });

const said = (message: string, code: string | null = null): object => ({ error: { message, type: 'invalid_request_error', code } });

describe('what the server answers', () => {
  it('wrong key: names the provider and the setting, never the key', async () => {
    const error = await failing({ status: 401, body: said(`Incorrect API key provided: ${testKey}`, 'invalid_api_key') });
    expect(isOperational(error)).toBe(true);
    expect(error.details).toMatchObject({ kind: 'auth', status: 401, retryable: false, hint: 'check providers.lab.api_key' });
    expect(error.message).toContain('provider lab refused the API key (401: Incorrect API key provided: [redacted]');
    expect(JSON.stringify([error.message, error.details, error.stack, error.cause])).not.toContain(testKey);
  });

  it('a key echoed at the end of a long message is not cut in half before it is redacted', async () => {
    const error = await failing({ status: 401, body: said(`${'x'.repeat(190)} ${testKey}`) });
    expect(error.message).not.toContain(testKey.slice(0, 8));
  });

  it('no key', async () => {
    await withModel([{ status: 401 }], async (_, server) => {
      const endpoint = { ...endpointOf(server.url), apiKey: undefined };
      const error = await rejection(openaiChatModel(endpoint, 'm', fetch).doStream(options));
      expect(error.message).toMatch(/wants an API key .*; set providers\.lab\.api_key$/);
    });
  });

  it('secrets in headers', async () => {
    await withModel([{ status: 403, body: said('token tenant-secret-1 is not allowed') }], async (_, server) => {
      const endpoint = { ...endpointOf(server.url), headers: { 'x-tenant': 'tenant-secret-1' } };
      const error = await rejection(openaiChatModel(endpoint, 'm', fetch).doStream(options));
      expect(error.details.kind).toBe('auth');
      expect(error.message).not.toContain('tenant-secret-1');
    });
  });

  it.each<[string, Reply]>([
    ['404', { status: 404, body: said("model 'scripted-modle' not found") }],
    ['400', { status: 400, body: said('The model `x` does not exist', 'model_not_found') }],
    ['404 without words', { status: 404, body: '' }],
  ])('unknown model (%s): suggests close ids and names the setting', async (_, reply) => {
    await withModel([reply], async (_model, server) => {
      const error = await rejection(modelAt(server.url, 'scripted-modle').doStream(options));
      expect(error.details).toMatchObject({ kind: 'unknown-model', retryable: false });
      expect(error.message).toContain('provider lab has no model "scripted-modle"');
      expect(error.details.hint).toContain('did you mean scripted-model?');
      expect(error.details.hint).toContain('model: lab/scripted-model in');
    });
  });

  it('unknown model at AGENT_BASE_URL: names the variable as it is to be set', async () => {
    await withModel([{ status: 404, body: said("model 'x' not found") }], async (_model, server) => {
      const endpoint = { ...endpointAt('env', server.url, 'AGENT_BASE_URL'), origin: 'environment' as const };
      const error = await rejection(openaiChatModel(endpoint, 'x', fetch).doStream(options));
      expect(error.message).toMatch(/; it has (\S+): set AGENT_MODEL=\1$/);
    });
  });

  it('wrong path: says that the base url is wrong', async () => {
    await withModel([], async (_model, server) => {
      const error = await rejection(modelAt(server.url.replace('/v1', '')).doStream(options));
      expect(error.details).toMatchObject({ kind: 'not-a-model', status: 404 });
      expect(error.details.hint).toBe('check providers.lab.base_url; such URLs usually end in /v1');
    });
  });

  it.each<[string, Reply, object]>([
    ['429', { status: 429, headers: { 'retry-after': '7' } }, { kind: 'rate-limit', retryable: true, retryAfter: 7000, status: 429 }],
    ['used-up quota', { status: 429, body: said('You exceeded your quota', 'insufficient_quota') }, { kind: 'rate-limit', retryable: false }],
    ['500', { status: 500 }, { kind: 'server', status: 500, retryable: true }],
    ['502 as a web page', { status: 502, body: '<html>Bad gateway</html>' }, { kind: 'server', status: 502, retryable: true }],
    ['404 as a web page', { status: 404, body: '<html>Nothing here</html>' }, { kind: 'not-a-model', status: 404 }],
    ['400', { status: 400, body: said('maximum context length is 8192 tokens') }, { kind: 'bad-request', status: 400, retryable: false }],
    ['400 about a parameter', { status: 400, body: said("'temperature' is not supported with this model") }, { kind: 'bad-request', status: 400 }],
    ['400 about a key', { status: 400, body: said('API key not valid', 'invalid_api_key') }, { kind: 'auth', status: 400 }],
    ['400 in another shape', { status: 422, body: { detail: 'temperature must be positive' } }, { kind: 'bad-request', status: 422 }],
  ])('%s', async (_, reply, details) => {
    const error = await failing(reply);
    expect(error.details).toMatchObject(details);
    expect(error.message).not.toContain('\n');
  });

  it('keeps the words of the server', async () => {
    expect((await failing({ status: 400, body: said('maximum context length is 8192 tokens') })).message).toContain('maximum context length is 8192 tokens');
    expect((await failing({ status: 422, body: { detail: 'temperature must be positive' } })).message).toContain('temperature must be positive');
  });

  it('a web page to a request without stream', async () => {
    const error = await withModel([{ body: '<html></html>' }], (model) => rejection(model.doGenerate(options)));
    expect(error.details).toMatchObject({ kind: 'not-a-model', retryable: false });
  });

  it('an error object with status 200 to a request without stream', async () => {
    const error = await withModel([{ body: { error: { message: 'overloaded', code: 529 } } }], (model) => rejection(model.doGenerate(options)));
    expect(error.details).toMatchObject({ kind: 'server', status: 529, retryable: true });
  });
});

describe('the way to the server', () => {
  it('nobody listens', async () => {
    const { port, close } = await listen(() => undefined);
    await close();
    const error = await rejection(modelAt(`http://127.0.0.1:${port}/v1`).doStream(options));
    expect(error.details).toMatchObject({ kind: 'unreachable', retryable: true, code: 'ECONNREFUSED' });
    expect(error.message).toBe(`cannot reach http://127.0.0.1:${port}/v1 (connection refused); check that the server runs, and providers.lab.base_url`);
  });

  it('no such host', async () => {
    const cause = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    const lookup = (): Promise<Response> => Promise.reject(new TypeError('fetch failed', { cause }));
    const error = await rejection(openaiChatModel(endpointOf('http://nowhere.invalid/v1'), 'm', lookup).doStream(options));
    expect(error.details).toMatchObject({ kind: 'unreachable', retryable: false, code: 'ENOTFOUND' });
  });

  it('closed before an answer', async () => {
    const server = await listen((socket) => socket.once('data', () => socket.destroy()));
    const error = await rejection(modelAt(`http://127.0.0.1:${server.port}/v1`).doStream(options));
    await server.close();
    expect(error.details).toMatchObject({ kind: 'cut', retryable: true });
  });

  it('something that is not HTTP', async () => {
    const server = await listen((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.9\r\n')));
    const error = await rejection(modelAt(`http://127.0.0.1:${server.port}/v1`).doStream(options));
    await server.close();
    expect(error.details).toMatchObject({ kind: 'not-a-model', retryable: false });
  });

  it('a fetch that wraps its errors', async () => {
    const { OperationalError } = await import('newt-agent');
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const wrapped = (): Promise<Response> => Promise.reject(new OperationalError('fetch failed', {}, { cause }));
    const error = await rejection(openaiChatModel(endpointOf('http://127.0.0.1:9/v1'), 'm', wrapped).doStream(options));
    expect(error.details).toMatchObject({ kind: 'unreachable', code: 'ECONNREFUSED' });
  });

  it('a failure without a code does not name the address twice', async () => {
    const { OperationalError } = await import('newt-agent');
    const failing = (message: string) => (): Promise<Response> => Promise.reject(new OperationalError(message));
    const say = async (message: string): Promise<string> => (await rejection(openaiChatModel(endpointOf('http://h/v1'), 'm', failing(message)).doStream(options))).message;
    expect(await say('could not reach http://h/v1/chat/completions: fetch failed')).toMatch(/^cannot reach http:\/\/h\/v1 \(no connection\); /);
    expect(await say('could not reach http://h/v1/chat/completions: bad port')).toMatch(/^cannot reach http:\/\/h\/v1 \(bad port\); /);
  });

  it('puts paths before the query of the URL, and never shows it', async () => {
    const urls: string[] = [];
    const asked = (url: string | URL): Promise<Response> => {
      urls.push(String(url));
      return Promise.resolve(Response.json({ error: { message: `no route ${String(url)}, key SECRET-7` } }, { status: 404 }));
    };
    const error = await rejection(openaiChatModel(endpointAt('env', 'http://h/v1/?key=SECRET%2D7&v=1#part', 'AGENT_BASE_URL'), 'm', asked).doStream(options));
    expect(urls).toEqual(['http://h/v1/chat/completions?key=SECRET%2D7&v=1', 'http://h/v1/models?key=SECRET%2D7&v=1']);
    expect(JSON.stringify([error.message, error.details])).not.toMatch(/SECRET/);

    const { port, close } = await listen(() => undefined);
    await close();
    const refused = await rejection(openaiChatModel(endpointAt('env', `http://127.0.0.1:${port}/v1?key=SECRET-7`, 'AGENT_BASE_URL'), 'm', fetch).doStream(options));
    expect(refused.message).toBe(`cannot reach http://127.0.0.1:${port}/v1 (connection refused); check that the server runs, and AGENT_BASE_URL`);
  });

  it('a percent sign in a password that encodes nothing is one', () => {
    expect(endpointAt('lab', 'http://u:100%@h/v1', 'x').headers).toEqual({ authorization: `Basic ${Buffer.from('u:100%').toString('base64')}` });
  });

  it('sends user and password of the URL as a header, and shows neither', async () => {
    await withModel([{ status: 400, body: said('no') }], async (_, server) => {
      const endpoint = endpointAt('lab', server.url.replace('//', '//user:hunter2@'), 'AGENT_BASE_URL');
      const error = await rejection(openaiChatModel(endpoint, 'm', fetch).doStream(options));
      expect(server.requests[0]?.headers.authorization).toBe(`Basic ${btoa('user:hunter2')}`);
      expect(JSON.stringify([error.message, error.details, endpoint.label])).not.toContain('hunter2');
    });
  });

  it('leaves errors of the code as they are', async () => {
    const broken = (): Promise<Response> => Promise.reject(new RangeError('a bug'));
    const error = await rejection(openaiChatModel(endpointOf('http://127.0.0.1:9/v1'), 'm', broken).doStream(options));
    expect(error).toBeInstanceOf(RangeError);
  });
});

async function listen(onSocket: Parameters<typeof createServer>[1]): Promise<{ port: number; close: () => Promise<void> }> {
  const server: Server = createServer(onSocket);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return { port: (server.address() as AddressInfo).port, close };
}
