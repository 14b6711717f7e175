import { isProviderError } from 'newt-agent';
import { describe, expect, it } from 'vitest';
import { forOpenAI } from './openai-chat.ts';
import { modelAt, options, rejection, stream, testKey, withModel } from './model.testing.ts';
import { wellFormedJson } from './sse-fetch.ts';

const tools = [{ type: 'function' as const, name: 'read', inputSchema: { type: 'object' as const, properties: {} } }];

describe('a streamed answer', () => {
  it('has reasoning, text, tool calls put together, and usage', async () => {
    const reply = {
      reasoning: ['let me ', 'see'],
      text: ['I will ', 'look'],
      toolCalls: [
        { id: 'c1', name: 'read', arguments: { path: 'src/ünï.ts' } },
        { id: 'c2', name: 'read', arguments: '{"path": broken' },
      ],
      usage: { inputTokens: 100, outputTokens: 20, cachedTokens: 60, reasoningTokens: 5 },
    };
    const told = await withModel([reply], (model) => stream(model, { tools }));
    expect(told).toMatchObject({ reasoning: 'let me see', text: 'I will look', finish: 'tool-calls', error: undefined });
    expect(told.calls).toEqual([
      { name: 'read', input: '{"path":"src/ünï.ts"}' },
      { name: 'read', input: '{"path": broken' },
    ]);
    expect(told.parts.filter((part) => part.type === 'tool-input-delta').length).toBeGreaterThan(2);
    expect(told.parts.at(-1)).toMatchObject({
      type: 'finish',
      usage: { inputTokens: { total: 100, cacheRead: 60 }, outputTokens: { total: 20, reasoning: 5 } },
    });
  });

  it('consists of JSON values', async () => {
    const { parts } = await withModel([{ text: 'x' }], (model) => stream(model));
    const plain = parts.map((part) => JSON.parse(JSON.stringify(part)) as unknown);
    expect(parts).toEqual(plain);
  });

  it('asks once, with the key, the model and usage', async () => {
    await withModel([{ text: 'x' }], async (model, server) => {
      await stream(model, { temperature: 0.2, maxOutputTokens: 99 });
      expect(server.requests).toHaveLength(1);
      expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${testKey}`);
      expect(server.requests[0]?.body).toMatchObject({
        model: 'scripted-model', stream: true, stream_options: { include_usage: true }, temperature: 0.2, max_tokens: 99,
      });
    });
  });

  it('leaves the connection open for the next request', async () => {
    const asked = 6;
    const script = Array.from({ length: asked }, () => ({ text: 'x' }));
    await withModel(script, async (model, server) => {
      for (const _ of script) await stream(model);
      const connections = new Set(server.requests.map(({ clientPort }) => clientPort));
      expect(connections.size).toBeLessThan(asked);
    });
  });

  it('is over with [DONE], although the server keeps the connection open', async () => {
    const gate = Promise.withResolvers<void>();
    const rawSse = ['data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n', ': never'].map((packet) => Buffer.from(packet));
    await withModel([{ rawSse, gate: gate.promise }], async (model, server) => {
      expect(await stream(model)).toMatchObject({ text: 'x', error: undefined });
      expect(await server.requests[0]?.completed).toBe(false);
      gate.resolve();
    });
  });

  it('can also be had whole', async () => {
    const result = await withModel([{ text: 'whole', toolCalls: [{ name: 'read', arguments: {} }] }], async (model) => model.doGenerate(options));
    expect(result.content).toMatchObject([{ type: 'text', text: 'whole' }, { type: 'tool-call', toolName: 'read', input: '{}' }]);
  });
});

describe('stopping', () => {
  it('an abort in the middle rejects the read and closes the connection', async () => {
    const gate = Promise.withResolvers<void>();
    await withModel([{ text: ['one', 'two'], gate: gate.promise }], async (model, server) => {
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
      const error = await rejection(read());
      expect(error.name).toBe('AbortError');
      expect(isProviderError(error)).toBe(true);
      expect(await server.requests[0]?.completed).toBe(false);
      gate.resolve();
    });
  });

  it('an abort before the answer rejects the request', async () => {
    const gate = Promise.withResolvers<void>();
    await withModel(async () => (await gate.promise, { text: 'late' }), async (model, server) => {
      const controller = new AbortController();
      const call = rejection(model.doStream({ ...options, abortSignal: controller.signal }));
      await server.waitForRequests(1);
      controller.abort();
      expect((await call).name).toBe('AbortError');
      gate.resolve();
    });
  });

  it('cancelling the stream closes the connection although the server is silent', async () => {
    const gate = Promise.withResolvers<void>();
    await withModel([{ text: ['one', 'two'], gate: gate.promise }], async (model, server) => {
      const { stream: source } = await model.doStream(options);
      const reader = source.getReader();
      await reader.read();
      await reader.cancel();
      expect(await server.requests[0]?.completed).toBe(false);
      gate.resolve();
    });
  });
});

describe('the request body', () => {
  it('is valid Unicode although a tool answered half a character', async () => {
    const text = 'before \ud83d after 🦎 and \\ud83d as text';
    await withModel([{ text: 'x' }], async (model, server) => {
      await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text }] }] });
      const bytes = server.requests[0]?.bytes ?? Buffer.alloc(0);
      expect(new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toBe(bytes.toString());
      expect(server.requests[0]?.body.messages[0]?.content).toBe('before \ufffd after 🦎 and \\ud83d as text');
    });
  });

  it.each([
    ['"\\ud83d"', '"\ufffd"'],
    ['"\\uDE00 x"', '"\ufffd x"'],
    ['"\\ud83d\\ude00"', '"\\ud83d\\ude00"'],
    ['"\\\\ud83d"', '"\\\\ud83d"'],
    ['"\\\\\\ud83d"', '"\\\\\ufffd"'],
    ['"\\ud83d\\ud83d\\ude00"', '"\ufffd\\ud83d\\ude00"'],
    ['"\ud83d"', '"\ufffd"'],
    ['"\\n\\u00e9"', '"\\n\\u00e9"'],
  ])('%s becomes %s', (json, expected) => {
    expect(wellFormedJson(json)).toBe(expected);
  });

  it('follows the names OpenAI itself uses', () => {
    expect(forOpenAI({ model: 'gpt-4.1', max_tokens: 5, temperature: 0.2 })).toEqual({ model: 'gpt-4.1', max_completion_tokens: 5, temperature: 0.2 });
    expect(forOpenAI({ model: 'gpt-5-mini', max_tokens: 5, temperature: 0.2 })).toEqual({ model: 'gpt-5-mini', max_completion_tokens: 5 });
    expect(forOpenAI({ model: 'o3', temperature: 0.2 })).toEqual({ model: 'o3' });
  });
});

it('makes no request before it is used', async () => {
  expect(modelAt('http://127.0.0.1:9/v1').modelId).toBe('scripted-model');
});
