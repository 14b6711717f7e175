/** Models: providers and the choice among them, from configuration, environment and this machine. */
import { definePlugin, modelChooser, type Provider } from 'newt-agent';
import { withoutRedirects } from './redirects.ts';
import { createModelChooser, requireHttp } from './choose-model.ts';
import { endpointsOf, type Endpoint, type Fetch } from './endpoints.ts';
import { findLocalServer } from './local-servers.ts';
import { environmentNames, manifest, type ModelsEnvironment } from './manifest.ts';
import { modelCheck } from './model-check.ts';
import { listDeadline, listModels } from './model-list.ts';

export default definePlugin(manifest, (p) => {
  const env: ModelsEnvironment = Object.fromEntries(environmentNames.map((name) => [name, p.env(name) || undefined]));
  const fetch: Fetch = withoutRedirects((url, init) => p.fetch(url, init));
  const endpoints = endpointsOf(p.config, env);
  const provider = (endpoint: Endpoint): Provider => ({
    label: endpoint.label,
    // The AI SDK costs tens of milliseconds to import, which only a run that talks to a model should pay.
    model: async (id) => {
      requireHttp(endpoint);
      return endpoint.wire === 'anthropic'
        ? (await import('./anthropic.ts')).anthropicModel(endpoint, id, fetch, p.config.thinking)
        : (await import('./openai-chat.ts')).openaiChatModel(endpoint, id, fetch);
    },
  });
  // Of servers that were found, or are known by default.
  const offered = new Map<string, Endpoint>();
  const chooser = createModelChooser({
    config: p.config,
    env,
    endpoints,
    offer: (endpoint) => {
      offered.set(endpoint.name, endpoint);
      p.contribute('providers', endpoint.name, provider(endpoint));
    },
    listModels: (endpoint) => listModels(endpoint, fetch, listDeadline),
    hasProvider: async (name) => {
      await p.activate(`provider:${name}`);
      return p.items('providers').has(name);
    },
    findLocalServer: () => findLocalServer(fetch),
  });
  p.provide(modelChooser, chooser);
  return { checks: { model: modelCheck(chooser, (name) => endpoints.get(name) ?? offered.get(name), fetch) }, providers: Object.fromEntries([...endpoints].map(([name, endpoint]) => [name, provider(endpoint)])) };
});
