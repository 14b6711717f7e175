/** The Anthropic wire, over a real socket, with a scripted server that refuses what the API refuses. */
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { describe, expect, it, vi } from 'vitest';
import { type MessagesRequest, signatureOf, startAnthropicServer } from '../../test/support/anthropic-server.ts';
import type { ModelServer, Reply } from '../../test/support/model-server.ts';
import { anthropicModel } from './anthropic.ts';
import { anthropicEndpoint, withAnthropic } from './anthropic.testing.ts';
import { options, type ProviderError, rejection, stream, testKey } from './model.testing.ts';
import { listModels } from './model-list.ts';

const tools = [{ type: 'function' as const, name: 'read', inputSchema: { type: 'object' as const, properties: {} } }];
const sentTo = (server: ModelServer, n = 0): MessagesRequest => server.requests[n]?.sent as MessagesRequest;
const thinking = { budget_tokens: 2048 };

const system = { role: 'system', content: 'You help.' } as const;
const user: LanguageModelV4Message = { role: 'user', content: [{ type: 'text', text: 'hi' }] };
const call = (id: string, toolName = 'read') => ({ type: 'tool-call', toolCallId: id, toolName, input: {} }) as const;
const thought = (text: string) => ({ type: 'reasoning', text, providerOptions: { anthropic: { signature: signatureOf(text) } } }) as const;
const result = (id: string, type: 'text' | 'error-text' = 'text', value = 'ok') => ({
  role: 'tool' as const,
  content: [{ type: 'tool-result' as const, toolCallId: id, toolName: 'read', output: { type, value } }],
});

describe('a streamed answer', () => {
  it('has thinking with its signature, text, tool calls put together, and usage', async () => {
    const reply: Reply = {
      reasoning: ['let me ', 'see'],
      redacted: 'c2VjcmV0',
      text: ['I will ', 'look'],
      toolCalls: [{ id: 'c1', name: 'read', arguments: { path: 'src/ünï.ts' } }, { id: 'c2', name: 'read', arguments: '{"path": broken' }],
      usage: { inputTokens: 100, outputTokens: 20, cachedTokens: 60 },
    };
    const told = await withAnthropic([reply], (model) => stream(model, { tools }));
    expect(told).toMatchObject({ reasoning: 'let me see', text: 'I will look', finish: 'tool-calls', error: undefined });
    expect(told.calls).toEqual([{ name: 'read', input: '{"path":"src/ünï.ts"}' }, { name: 'read', input: '{"path": broken' }]);
    expect(told.parts.flatMap((part) => ('providerMetadata' in part && part.type.startsWith('reasoning') ? [part.providerMetadata] : []))).toEqual([
      { anthropic: { signature: signatureOf('let me see') } },
      { anthropic: { redactedData: 'c2VjcmV0' } },
    ]);
    expect(told.parts.at(-1)).toMatchObject({ type: 'finish', usage: { inputTokens: { total: 100, cacheRead: 60 }, outputTokens: { total: 20 } } });
    expect(told.parts).toEqual(JSON.parse(JSON.stringify(told.parts)));
  });

  it('can also be had whole', async () => {
    const whole = await withAnthropic([{ text: 'whole', toolCalls: [{ name: 'read', arguments: {} }] }], async (model) => model.doGenerate(options));
    expect(whole.content).toMatchObject([{ type: 'text', text: 'whole' }, { type: 'tool-call', toolName: 'read', input: '{}' }]);
  });

  it('leaves the connection open for the next request', async () => {
    const script = Array.from({ length: 6 }, () => ({ text: 'x' }));
    await withAnthropic(script, async (model, server) => {
      for (const _ of script) await stream(model);
      expect(new Set(server.requests.map(({ clientPort }) => clientPort)).size).toBeLessThan(6);
    });
  });

  it('an abort in the middle rejects the read and closes the connection', async () => {
    const gate = Promise.withResolvers<void>();
    await withAnthropic([{ text: ['one', 'two'], gate: gate.promise }], async (model, server) => {
      const controller = new AbortController();
      const { stream: source } = await model.doStream({ ...options, abortSignal: controller.signal });
      const reader = source.getReader();
      const read = async (): Promise<void> => {
        for (;;) {
          const { done, value } = await reader.read();
          if (value?.type === 'text-delta') controller.abort(new Error('enough'));
          if (done) return;
        }
      };
      expect((await rejection(read())).name).toBe('AbortError');
      expect(await server.requests[0]?.completed).toBe(false);
      gate.resolve();
    });
  });
});

describe('the request', () => {
  it('carries key, version and settings, and marks what is to be cached: the fixed text and the last message', async () => {
    await withAnthropic([{ text: 'x' }, { text: 'x' }], async (model, server) => {
      await stream(model, { prompt: [system, user], tools, temperature: 1.7, maxOutputTokens: 99 });
      expect(server.requests[0]?.headers).toMatchObject({ 'x-api-key': testKey, 'anthropic-version': '2023-06-01' });
      expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
      expect(server.requests[0]?.headers).not.toHaveProperty('anthropic-beta');
      expect(sentTo(server)).toEqual({
        model: 'scripted-model', max_tokens: 99, temperature: 1, stream: true,
        system: [{ type: 'text', text: 'You help.', cache_control: { type: 'ephemeral' } }],
        messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] }],
        tools: [{ name: 'read', input_schema: { type: 'object', properties: {} } }],
      });
      await stream(model, { prompt: [system, user, { role: 'assistant', content: [call('a'), call('b')] }, { role: 'tool', content: [...result('a').content, ...result('b').content] }] });
      const marked = sentTo(server, 1).messages.map(({ content }) => (content as readonly object[]).map((block) => 'cache_control' in block));
      expect(marked).toEqual([[false], [false, false], [false, true]]);
    });
  });

  it('keeps to the rules of the API, whoever made the conversation', async () => {
    const prompt: LanguageModelV4Prompt = [
      user,
      { role: 'assistant', content: [{ type: 'reasoning', text: 'unsigned' }, { type: 'text', text: '\n\n' }, call('functions.read:0', 'functions.read')] },
      result('functions.read:0', 'error-text', ''),
      { role: 'user', content: [{ type: 'text', text: 'an image' }, { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } }] },
    ];
    const told = await withAnthropic([{ text: 'fine' }], (model) => stream(model, { prompt }));
    expect(told).toMatchObject({ text: 'fine', error: undefined });
  });

  it('never takes a key from the environment that its configuration did not name', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-of-the-environment');
    vi.stubEnv('ANTHROPIC_BASE_URL', ' ');
    await using server = await startAnthropicServer([{ text: 'x' }]);
    await stream(anthropicModel({ ...anthropicEndpoint(server.url), apiKey: undefined }, 'm', fetch));
    vi.unstubAllEnvs();
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain('sk-of-the-environment');
  });

  it('puts the path before the query of the URL', async () => {
    const urls: string[] = [];
    const asked = (url: string | URL): Promise<Response> => {
      urls.push(String(url));
      return Promise.resolve(Response.json({ type: 'error', error: { type: 'not_found_error', message: 'model: m' } }, { status: 404 }));
    };
    await rejection(anthropicModel(anthropicEndpoint('http://h/v1/?v=1'), 'm', asked).doStream(options));
    expect(urls).toEqual(['http://h/v1/messages?v=1', 'http://h/v1/models?v=1&limit=1000']);
  });
});

describe('thinking', () => {
  it('is not asked for unless it is configured', async () => {
    await withAnthropic([{ text: 'x' }], async (model, server) => {
      await stream(model);
      expect(sentTo(server).thinking).toBeUndefined();
    });
  });

  it('gets its budget besides max_tokens, and no temperature', async () => {
    await withAnthropic([{ text: 'x' }], async (model, server) => {
      expect((await stream(model, { temperature: 0.2, maxOutputTokens: 1_000 })).error).toBeUndefined();
      expect(sentTo(server)).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2048 }, max_tokens: 3_048 });
      expect(sentTo(server).temperature).toBeUndefined();
    }, { thinking });
  });

  it('leaves room for an answer where the model has a limit', async () => {
    await withAnthropic([{ text: 'x' }], async (model, server) => {
      expect((await stream(model, { maxOutputTokens: 8_192 })).error).toBeUndefined();
      expect(sentTo(server)).toMatchObject({ thinking: { budget_tokens: 64_000 - 1_024 }, max_tokens: 64_000 });
    }, { thinking: { budget_tokens: 100_000 }, id: 'claude-sonnet-4-5' });
  });

  it('is adaptive, and shown, where a model takes no budget', async () => {
    await withAnthropic([{ text: 'x' }], async (model, server) => {
      await stream(model, { maxOutputTokens: 1_000 });
      expect(sentTo(server)).toMatchObject({ thinking: { type: 'adaptive', display: 'summarized' }, max_tokens: 1_000 });
    }, { thinking, id: 'claude-opus-5-5' });
  });

  it('goes back with the calls it led to, signed and redacted', async () => {
    await withAnthropic([{ text: 'x' }], async (model, server) => {
      const redacted = { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'c2VjcmV0' } } } as const;
      const told = await stream(model, { maxOutputTokens: 9, prompt: [user, { role: 'assistant', content: [thought('hm'), redacted, { type: 'text', text: 'so' }, call('a')] }, result('a')] });
      expect(told.error).toBeUndefined();
      expect(sentTo(server).messages[1]?.content).toEqual([
        { type: 'thinking', thinking: 'hm', signature: signatureOf('hm') },
        { type: 'redacted_thinking', data: 'c2VjcmV0' },
        { type: 'text', text: 'so' },
        { type: 'tool_use', id: 'a', name: 'read', input: {} },
      ]);
    }, { thinking });
  });

  it.each<[string, LanguageModelV4Prompt, boolean]>([
    ['the turn began without', [user, { role: 'assistant', content: [call('a')] }, result('a')], false],
    ['it began with, and went on without', [user, { role: 'assistant', content: [thought('hm'), call('a')] }, result('a'), { role: 'assistant', content: [call('b')] }, result('b')], true],
    ['an earlier turn was without', [user, { role: 'assistant', content: [{ type: 'text', text: 'yes' }] }, user], true],
    ['the turn began without, and a tool returned an image', [user, { role: 'assistant', content: [call('a')] }, result('a'), user], false],
  ])('%s', async (_, prompt, asked) => {
    await withAnthropic([{ text: 'x' }], async (model, server) => {
      expect((await stream(model, { prompt, maxOutputTokens: 9 })).error).toBeUndefined();
      expect(sentTo(server).thinking !== undefined).toBe(asked);
    }, { thinking });
  });
});

describe('what the server refuses', () => {
  const failing = (reply: Reply, models?: readonly string[]): Promise<ProviderError> => withAnthropic([reply], (model) => rejection(model.doStream(options)), models ? { models, id: 'claude-sonet-5' } : {});

  it('a wrong key: names the setting, never the key', async () => {
    const error = await failing({ status: 401, says: `invalid x-api-key ${testKey}` });
    expect(error.details).toMatchObject({ kind: 'auth', status: 401, hint: 'check providers.lab.api_key' });
    expect(JSON.stringify([error.message, error.details, error.stack, error.cause])).not.toContain(testKey);
  });

  it('an unknown model: suggests one of those it lists', async () => {
    const error = await failing({ status: 404, says: 'model: claude-sonet-5' }, ['claude-opus-5', 'claude-sonnet-5']);
    expect(error.details).toMatchObject({ kind: 'unknown-model', hint: expect.stringContaining('did you mean claude-sonnet-5') as string });
  });

  it.each<[string, Reply, object]>([
    ['429', { status: 429, headers: { 'retry-after': '7' } }, { kind: 'rate-limit', retryable: true, retryAfter: 7_000 }],
    ['529', { status: 529, says: 'Overloaded' }, { kind: 'server', status: 529, retryable: true }],
    ['500', { status: 500 }, { kind: 'server', status: 500 }],
    ['413', { status: 413 }, { kind: 'bad-request', status: 413 }],
    ['no credit', { status: 400, says: 'Your credit balance is too low to access the Anthropic API' }, { kind: 'rate-limit', retryable: false }],
    ['502 as a web page', { status: 502, body: '<html>Bad gateway</html>' }, { kind: 'server', status: 502 }],
    ['404 as a web page', { status: 404, body: '<html>Nothing here</html>' }, { kind: 'not-a-model', status: 404 }],
    ['404 of another API', { status: 404, body: { detail: 'Not Found' } }, { kind: 'not-a-model', status: 404, hint: 'check providers.lab.base_url' }],
  ])('%s', async (_, reply, details) => {
    expect((await failing(reply)).details).toMatchObject(details);
  });

  it('nobody listens', async () => {
    const server = await startAnthropicServer([]);
    await server.close();
    const error = await rejection(anthropicModel(anthropicEndpoint(server.url), 'm', fetch).doStream(options));
    expect(error.details).toMatchObject({ kind: 'unreachable', code: 'ECONNREFUSED' });
  });
});

it('lists its models with the key and the version', async () => {
  const seen: unknown[] = [];
  const asked = (_: unknown, init?: RequestInit): Promise<Response> => (seen.push(init?.headers), Promise.resolve(Response.json({ data: [{ type: 'model', id: 'claude-x' }], has_more: false })));
  expect(await listModels(anthropicEndpoint('http://h/v1'), asked, 100)).toEqual(['claude-x']);
  expect(seen).toEqual([{ 'x-api-key': testKey, 'anthropic-version': '2023-06-01' }]);
});
