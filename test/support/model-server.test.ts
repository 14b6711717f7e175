import { describe, expect, it } from 'vitest';
import { startModelServer, type Reply } from './model-server.ts';

const ask = (url: string, body: object = {}): Promise<Response> =>
  fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true, ...body }) });

async function raw(reply: Reply, body: object = {}): Promise<string> {
  await using server = await startModelServer([reply]);
  return await (await ask(server.url, body)).text();
}

const chunks = (sse: string): object[] =>
  sse.split('\n\n').flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6)) as object] : []));

describe('the scripted model server', () => {
  it('streams reasoning, text, a tool call in several deltas, the finish reason and usage', async () => {
    const sse = await raw({ reasoning: 'r', text: ['a', 'b'], toolCalls: [{ name: 'read', arguments: { path: 'x' } }] }, { stream_options: { include_usage: true } });
    expect(sse.endsWith('data: [DONE]\n\n')).toBe(true);
    const deltas = chunks(sse).map((chunk) => (chunk as { choices: { delta: object }[] }).choices[0]?.delta);
    expect(deltas.slice(0, 5)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'r' },
      { content: 'a' },
      { content: 'b' },
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: '' } }] },
    ]);
    const pieces = deltas.slice(5, -2).map((delta) => (delta as { tool_calls: { function: { arguments: string } }[] }).tool_calls[0]?.function.arguments);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('{"path":"x"}');
    expect(chunks(sse).at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
  });

  it('sends no usage unless asked', async () => {
    expect(await raw({ text: 'x' })).not.toContain('usage');
  });

  it('answers whole without stream', async () => {
    const answer = JSON.parse(await raw({ text: ['a', 'b'] }, { stream: false })) as object;
    expect(answer).toMatchObject({ choices: [{ message: { role: 'assistant', content: 'ab' }, finish_reason: 'stop' }] });
  });

  it('holds the stream open until the gate opens', async () => {
    const gate = Promise.withResolvers<void>();
    await using server = await startModelServer([{ text: ['one', 'two'], gate: gate.promise }]);
    const reader = (await ask(server.url)).body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes('one')) seen += (await reader?.read())?.value ?? '';
    expect(seen).not.toContain('two');
    gate.resolve();
    while (!seen.includes('[DONE]')) seen += (await reader?.read())?.value ?? '';
    expect(seen).toContain('two');
    expect(await server.requests[0]?.completed).toBe(true);
  });

  it('cuts the connection', async () => {
    await expect(raw({ text: ['one', 'two'], cutAfter: 1 })).rejects.toThrow('terminated');
  });

  it('sends bytes as they are', async () => {
    expect(await raw({ rawSse: [Buffer.from('data: é'.slice(0)).subarray(0, 7), Buffer.from([0xa9, 0x0d])] })).toBe('data: é\r');
  });

  it('answers errors, pages and the list of models', async () => {
    await using server = await startModelServer([{ status: 429, headers: { 'retry-after': '1' } }, { body: '<html>' }], { models: ['a', 'b'] });
    const limited = await ask(server.url);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await limited.json()).toMatchObject({ error: { message: 'scripted error 429' } });
    const page = await ask(server.url);
    expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([200, 'text/html; charset=utf-8', '<html>']);
    expect(await (await fetch(`${server.url}/models`)).json()).toMatchObject({ data: [{ id: 'a' }, { id: 'b' }] });
  });

  it('records requests and says when the script is over', async () => {
    await using server = await startModelServer([{ text: 'x' }]);
    const first = await ask(server.url);
    await first.text();
    const beyond = await ask(server.url);
    expect([beyond.status, await beyond.text()]).toEqual([400, expect.stringContaining('the script has 1 replies, this is request 2')]);
    const [recorded] = await server.waitForRequests(2);
    expect(recorded?.body.messages).toEqual([{ role: 'user', content: 'hi' }]);
    expect(recorded?.bytes.toString()).toContain('"model":"m"');
    expect(Math.abs((recorded?.at ?? 0) - Date.now())).toBeLessThan(30_000);
  });

  it('repeats the last reply, or asks a function', async () => {
    await using repeating = await startModelServer([{ text: 'x' }], { repeatLast: true });
    await (await ask(repeating.url)).text();
    expect(await (await ask(repeating.url)).text()).toContain('"content":"x"');
    await using scripted = await startModelServer(({ model }, n) => ({ text: `${model} ${n}` }));
    await (await ask(scripted.url)).text();
    expect(await (await ask(scripted.url)).text()).toContain('"content":"m 1"');
  });
});
