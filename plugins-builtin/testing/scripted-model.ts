/** The scripted model of the test kit: it says what the test wrote down, in this process, over no network. */
import { type LanguageModelV4, type Message, type ModelChooser, OperationalError, type Provider, type ToolSchema } from '../public.ts';

/** A call the model makes. Tools of plugins are called by `use_tool` or by their own name. */
export interface ScriptedCall {
  readonly name: string;
  readonly input?: unknown;
}

/** One answer of the model: its text, and the tools it calls. */
export type Reply = string | { readonly text?: string; readonly reasoning?: string; readonly calls?: readonly ScriptedCall[]; /** The request fails with these words. */ readonly error?: string };

/** The answers in their order, or what to answer to a request. */
export type Script = readonly Reply[] | ((request: SeenRequest) => Reply | Promise<Reply>);

/** What the model was asked. */
export interface SeenRequest {
  /** 0 for the first request of this script. */
  readonly index: number;
  /** The fixed text in front of the conversation. */
  readonly system: string;
  /** What came after it. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  /** The answers of all tools so far, as the model reads them. */
  readonly results: readonly string[];
  /** What the request is made of, in UTF-8 bytes of JSON. */
  readonly bytes: { readonly system: number; readonly tools: number; readonly messages: number };
}

type CallOptions = Parameters<LanguageModelV4['doStream']>[0];
type Part = Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

const provider = 'scripted';
const noUsage = { inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };

export interface ScriptedModels {
  readonly provider: { readonly [provider]: Provider };
  readonly chooser: ModelChooser;
  /** The name of a model that follows `script`, and what it is asked. */
  add(script: Script): { readonly name: string; readonly requests: readonly SeenRequest[] };
}

export function scriptedModels(): ScriptedModels {
  const models: LanguageModelV4[] = [];
  return {
    provider: {
      [provider]: {
        label: 'scripted model of the test',
        scripted: true,
        model(id) {
          const model = models[Number(id)];
          if (!model) throw new OperationalError(`the test has no model "${id}"`);
          return model;
        },
      },
    },
    chooser: {
      choose(wanted = '') {
        const [from, id = ''] = wanted.split('/');
        if (from !== provider) throw new OperationalError('the test gives no model for this', { hint: 'bootAgent({ model: [\'an answer\', …] })' });
        return { provider, id, name: wanted, temperature: undefined, maxTokens: undefined };
      },
    },
    add(script) {
      const requests: SeenRequest[] = [];
      const name = `${provider}/${models.length}`;
      models.push(scriptedModel(String(models.length), script, requests));
      return { name, requests };
    },
  };
}

function scriptedModel(modelId: string, script: Script, requests: SeenRequest[]): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new OperationalError('the scripted model only streams')),
    async doStream(options) {
      const request = seen(options, requests.length);
      requests.push(request);
      const reply = typeof script === 'function' ? await script(request) : script[request.index];
      if (reply === undefined) throw new OperationalError(`the script of the test has ${(script as readonly Reply[]).length} replies, and this is request ${request.index + 1}`);
      const { error, ...said } = typeof reply === 'string' ? { text: reply } : { ...reply };
      if (error !== undefined) throw new OperationalError(error);
      return { stream: ReadableStream.from(parts(said, request.index)) };
    },
  };
}

function seen({ prompt, tools = [] }: CallOptions, index: number): SeenRequest {
  const system = prompt.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n\n');
  const messages = prompt.filter(({ role }) => role !== 'system');
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content.map((part) => (part.type === 'tool-result' && 'value' in part.output ? String(part.output.value) : '')) : []));
  const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  return {
    index,
    system,
    messages: messages as unknown as Message[],
    tools: tools.flatMap((tool) => (tool.type === 'function' ? [{ name: tool.name, description: tool.description ?? '', inputSchema: tool.inputSchema as ToolSchema['inputSchema'] }] : [])),
    results,
    bytes: { system: size(system), tools: size(tools), messages: size(messages) },
  };
}

async function* parts({ text = '', reasoning = '', calls = [] }: Exclude<Reply, string>, request: number): AsyncGenerator<Part> {
  yield { type: 'stream-start', warnings: [] };
  if (reasoning) {
    yield { type: 'reasoning-start', id: 'reasoning' };
    yield { type: 'reasoning-delta', id: 'reasoning', delta: reasoning };
    yield { type: 'reasoning-end', id: 'reasoning' };
  }
  if (text) {
    yield { type: 'text-start', id: 'text' };
    yield { type: 'text-delta', id: 'text', delta: text };
    yield { type: 'text-end', id: 'text' };
  }
  for (const [index, { name, input = {} }] of calls.entries()) yield { type: 'tool-call', toolCallId: `call_${request + 1}_${index + 1}`, toolName: name, input: typeof input === 'string' ? input : JSON.stringify(input) };
  yield { type: 'finish', usage: noUsage, finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: undefined } };
}
