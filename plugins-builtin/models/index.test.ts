/** The glue, with the few members of the plugin context that it uses. */
import { modelChooser, type ModelChooser, type Provider, type ServiceRef } from 'newt-agent';
import { expect, it } from 'vitest';
import { startModelServer } from '../../test/support/model-server.ts';
import models from './index.ts';
import { manifest } from './manifest.ts';
import { stream } from './model.testing.ts';

it('contributes the providers and provides the choice', async () => {
  await using server = await startModelServer([{ text: 'hello' }]);
  const env: Record<string, string> = { AGENT_BASE_URL: server.url, AGENT_MODEL: 'scripted-model', AGENT_API_KEY: 'key-of-env', OPENAI_API_KEY: '' };
  const services = new Map<string, unknown>();
  const contributions = await models.setup({
    config: manifest.config.parse({ providers: { lab: { base_url: 'http://127.0.0.1:9/v1' } } }),
    env: (name: string) => env[name],
    fetch,
    activate: async () => undefined,
    items: () => new Map(),
    provide: (ref: ServiceRef<unknown>, service: unknown) => services.set(ref.key, service),
  } as never);
  const providers = (contributions as { readonly providers: Readonly<Record<string, Provider>> }).providers;
  expect(Object.keys(providers)).toEqual(['lab', 'env']);
  expect(providers.env?.label).toBe(`OpenAI-compatible server at ${server.url}`);

  const choice = await (services.get(modelChooser.key) as ModelChooser).choose();
  const model = await providers[choice.provider]?.model(choice.id);
  expect(model && (await stream(model)).text).toBe('hello');
  expect(server.requests[0]?.headers.authorization).toBe('Bearer key-of-env');
});

it('says where each key may be set', () => {
  const from = Object.entries(manifest.config.shape).map(([key, schema]) => [key, schema.meta()?.from]);
  expect(Object.fromEntries(from)).toEqual({ model: 'trusted-project', providers: 'trusted-project', temperature: 'any', max_tokens: 'any', thinking: 'any' });
});
