/** What the tests of the Anthropic wire share: a model on a scripted server, and one that reads given bytes. */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { frame, startAnthropicServer } from '../../test/support/anthropic-server.ts';
import type { ModelServer, ModelServerOptions, Script } from '../../test/support/model-server.ts';
import { anthropicModel, type Thinking } from './anthropic.ts';
import { type Endpoint, endpointAt } from './endpoints.ts';
import { stream, testKey, type Told } from './model.testing.ts';

export function anthropicEndpoint(baseUrl: string): Endpoint {
  return { ...endpointAt('lab', baseUrl, 'providers.lab.base_url', 'anthropic'), apiKey: testKey, apiKeySetting: 'providers.lab.api_key' };
}

/** Runs `use` with a model on a fresh server. */
export async function withAnthropic<T>(
  script: Script,
  use: (model: LanguageModelV4, server: ModelServer) => Promise<T>,
  { thinking, id = 'scripted-model', ...settings }: ModelServerOptions & { readonly thinking?: Thinking; readonly id?: string } = {},
): Promise<T> {
  await using server = await startAnthropicServer(script, settings);
  return await use(anthropicModel(anthropicEndpoint(server.url), id, fetch, thinking), server);
}

/** What the model makes of these packets over a real socket. */
export function raw(rawSse: string | Buffer[]): Promise<Told> {
  return withAnthropic([{ rawSse }], (model) => stream(model));
}

/** What the model makes of these packets, without a socket between that might join them. */
export function fromPackets(packets: readonly Uint8Array[]): Promise<Told> {
  const body = (): ReadableStream => {
    const rest = [...packets];
    return new ReadableStream({
      pull(controller) {
        const packet = rest.shift();
        if (packet) controller.enqueue(packet);
        else controller.close();
      },
    });
  };
  return stream(anthropicModel(anthropicEndpoint('http://127.0.0.1:9/v1'), 'scripted-model', async () => new Response(body(), { headers: { 'content-type': 'text/event-stream' } })));
}

export const start = frame({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } } });
export const blockStart = (index: number, content_block: object): string => frame({ type: 'content_block_start', index, content_block });
export const delta = (index: number, part: object): string => frame({ type: 'content_block_delta', index, delta: part });
export const textDelta = (text: string, index = 0): string => delta(index, { type: 'text_delta', text });
export const blockStop = (index: number): string => frame({ type: 'content_block_stop', index });
export const messageDelta = (stop_reason = 'end_turn'): string => frame({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } });
export const stop = frame({ type: 'message_stop' });
export const tool = (name: unknown, more: object = {}): object => ({ type: 'tool_use', id: 'toolu_1', name, input: {}, ...more });
export const json = (partial_json: unknown, index = 0): string => delta(index, { type: 'input_json_delta', partial_json });
