/**
 * A scripted model server: a real HTTP server on loopback that speaks the OpenAI chat-completions wire
 * (or another, see `anthropic-server.ts`) and answers what a test wrote down. It is scripted because no real model is available to the tests;
 * nothing it says is the output of a model.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { openaiWire, type ChatRequest, type Reply, type ServerWire } from './model-reply.ts';

export type { ChatMessage, ChatRequest, Reply, ScriptedToolCall, ScriptedUsage } from './model-reply.ts';

/** Replies in the order of the requests, or a function of the request; `n` counts from 0. */
export type Script = readonly Reply[] | ((request: ChatRequest, n: number) => Reply | Promise<Reply>);

export interface RecordedRequest {
  readonly body: ChatRequest;
  /** The body as it was sent: on the OpenAI wire the same. */
  readonly sent: unknown;
  readonly bytes: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** Arrival of the whole request, in milliseconds since the epoch, with fractions. */
  readonly at: number;
  /** Port of the client's end: equal where a connection was used again. */
  readonly clientPort: number | undefined;
  /** Settles when the answer is over; false: the client hung up, or the script cut it. */
  readonly completed: Promise<boolean>;
}

export interface ModelServerOptions {
  /** Goes on answering with the last reply when the script is over. */
  readonly repeatLast?: boolean;
  /** Ids that `GET /v1/models` lists; default `scripted-model`. */
  readonly models?: readonly string[];
  /** Default: any free port. */
  readonly port?: number;
  /** Default: OpenAI's. */
  readonly wire?: ServerWire;
}

export interface ModelServer {
  /** Base url, ending in `/v1`. */
  readonly url: string;
  readonly port: number;
  /** Chat requests, in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Resolves with the first `count` chat requests once they have arrived. */
  waitForRequests(count: number): Promise<readonly RecordedRequest[]>;
  /** Destroys all sockets and stops listening. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts the server. A request beyond the script is answered with status 400 and a message that says
 * so, which no client repeats.
 */
export async function startModelServer(script: Script, options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const waiting: { readonly count: number; readonly done: () => void }[] = [];
  const models = options.models ?? ['scripted-model'];
  const wire = options.wire ?? openaiWire;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = await readAll(request);
    if (request.method === 'GET' && request.url?.split('?')[0] === '/v1/models') return sendBody(response, 200, wire.models(models));
    if (request.method !== 'POST' || request.url !== wire.path) return sendBody(response, 404, { detail: 'Not Found' });
    const sent = parseRequest(bytes);
    if (!sent) return sendBody(response, 400, wire.error(400, 'the request body is not JSON'));
    const body = wire.request(sent);
    const n = requests.length;
    const at = performance.timeOrigin + performance.now();
    requests.push({ body, sent, bytes, headers: request.headers, at, clientPort: request.socket.remotePort, completed: completed(response) });
    for (const { count, done } of waiting) if (requests.length >= count) done();
    const refused = wire.refusal(sent);
    await send(response, wire, body, refused === undefined ? await replyFor(script, options, body, n) : { status: 400, says: refused });
  };

  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    serve(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendBody(response, 500, wire.error(500, `the script failed: ${String(error)}`));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const waitForRequests = async (count: number): Promise<readonly RecordedRequest[]> => {
    if (requests.length < count) await new Promise<void>((done) => waiting.push({ count, done }));
    return requests.slice(0, count);
  };
  return { url: `http://127.0.0.1:${port}/v1`, port, requests, waitForRequests, close, [Symbol.asyncDispose]: close };
}

async function replyFor(script: Script, options: ModelServerOptions, body: ChatRequest, n: number): Promise<Reply> {
  if (typeof script === 'function') return script(body, n);
  const reply = script[n] ?? (options.repeatLast ? script.at(-1) : undefined);
  const message = `the script has ${script.length} replies, this is request ${n + 1}`;
  return reply ?? { status: 400, says: message };
}

async function send(response: ServerResponse, wire: ServerWire, body: ChatRequest, reply: Reply): Promise<void> {
  if (reply.delayMs) await wait(reply.delayMs);
  const status = reply.status ?? 200;
  if (reply.body !== undefined || status >= 400) return sendBody(response, status, reply.body ?? wire.error(status, reply.says), reply.headers);
  if (reply.rawSse === undefined && !body.stream) return sendBody(response, status, wire.whole(body, reply), reply.headers);
  response.socket?.setNoDelay(true);
  response.writeHead(status, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...reply.headers });
  response.flushHeaders();
  const cut = reply.rawSse === undefined ? await sendChunks(response, wire, body, reply) : await sendPackets(response, reply, reply.rawSse);
  if (cut) response.destroy();
  else response.end();
}

/** Answers true when the script cuts the stream here. */
async function sendChunks(response: ServerResponse, wire: ServerWire, body: ChatRequest, reply: Reply): Promise<boolean> {
  for (const frame of wire.opening(body, reply)) await write(response, frame);
  if (reply.cutAfter === 0) return true;
  let sent = 0;
  for (const chunk of wire.chunks(body, reply)) {
    if (sent === (reply.gateAfter ?? 1)) await reply.gate;
    await write(response, chunk);
    sent += 1;
    if (sent === reply.cutAfter) return true;
  }
  await reply.gate;
  for (const frame of wire.closing(body, reply)) await write(response, frame);
  return false;
}

async function sendPackets(response: ServerResponse, reply: Reply, raw: string | readonly Buffer[]): Promise<boolean> {
  let sent = 0;
  for (const packet of typeof raw === 'string' ? [Buffer.from(raw)] : raw) {
    if (sent === (reply.gateAfter ?? 1)) await reply.gate;
    await write(response, packet);
    // Without a pause the system joins packets, and the framing under test would not be tested.
    await wait(3);
    sent += 1;
    if (sent === reply.cutAfter) return true;
  }
  return false;
}

function write(response: ServerResponse, chunk: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => response.write(chunk, (error) => (error ? reject(error) : resolve())));
}

function sendBody(response: ServerResponse, status: number, body: string | object, headers: Readonly<Record<string, string>> = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html; charset=utf-8' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(text);
}

function completed(response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => response.once('close', () => resolve(response.writableFinished)));
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function parseRequest(bytes: Buffer): ChatRequest | undefined {
  try {
    return JSON.parse(bytes.toString('utf8')) as ChatRequest;
  } catch {
    return undefined;
  }
}
