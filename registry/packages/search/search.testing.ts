/** A service on loopback, and the tool that asks it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Tool, type ToolCall, type ToolResult } from 'newt-agent';
import { fetchFor } from '../../../kernel/fetch.ts';
import { type BaseUrls, chooseProvider, type ProviderName, providerNames } from './choose.ts';
import { webSearch } from './web-search.ts';

export interface Asked {
  readonly method: string | undefined;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Service extends AsyncDisposable {
  readonly base: string;
  readonly asked: readonly Asked[];
}

export async function startService(answer: (response: ServerResponse, asked: Asked) => void): Promise<Service> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const one = { method: request.method, url: new URL(request.url ?? '', 'http://service'), headers: request.headers, body };
    asked.push(one);
    response.on('error', () => undefined);
    answer(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with this status and body: text as a page, else JSON. */
export function saying(body: string | object, status = 200, headers: Readonly<Record<string, string>> = {}): (response: ServerResponse) => void {
  const isText = typeof body === 'string';
  return (response) => void response.writeHead(status, { 'content-type': isText ? 'text/html; charset=utf-8' : 'application/json', ...headers }).end(isText ? body : JSON.stringify(body));
}

export const key = 'k3y/+ "s"';

/** The tool as the plugin makes it, every service at `base`. */
export function toolAt(base: string, provider?: ProviderName, seconds = 5): Tool {
  const urls: BaseUrls = Object.fromEntries(providerNames.map((name) => [name, base]));
  const life = new AbortController();
  return webSearch((url, init) => fetchFor(life.signal, url, init), () => chooseProvider(provider, urls, () => key), seconds);
}

export async function ask(tool: Tool, input: object, signal = new AbortController().signal): Promise<ToolResult> {
  return (await tool.run(tool.input.parse(input) as never, { signal } as ToolCall)) as ToolResult;
}
