import { isOperational, type ModelChoice, type OperationalError } from 'newt-agent';
import { describe, expect, it } from 'vitest';
import { startModelServer } from '../../test/support/model-server.ts';
import { createModelChooser } from './choose-model.ts';
import { endpointsOf } from './endpoints.ts';
import { findLocalServer, localEndpoint, type FoundServer } from './local-servers.ts';
import { manifest, type ModelsEnvironment } from './manifest.ts';

interface World {
  readonly config?: Record<string, unknown>;
  readonly env?: ModelsEnvironment;
  readonly listed?: readonly string[];
  readonly local?: FoundServer;
}

function chooser({ config = {}, env = {}, listed, local }: World) {
  const parsed = manifest.config.parse(config);
  const offered: string[] = [];
  const asked: string[] = [];
  const service = createModelChooser({
    config: parsed,
    env,
    endpoints: endpointsOf(parsed, env),
    offer: ({ name }) => offered.push(name),
    listModels: async ({ name }) => (asked.push(name), listed),
    hasProvider: async () => false,
    findLocalServer: async () => (asked.push('local'), local),
  });
  return { choose: async (wanted?: string): Promise<ModelChoice> => service.choose(wanted), offered, asked };
}

async function refusal(world: World, wanted?: string): Promise<OperationalError> {
  const error: unknown = await chooser(world).choose(wanted).then(({ name }) => name, (thrown: unknown) => thrown);
  if (!isOperational(error)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error;
}

const lab = { lab: { base_url: 'http://127.0.0.1:8000/v1' } };

describe('a named model', () => {
  it.each<[string, World, string | undefined, Partial<ModelChoice>]>([
    ['config', { config: { model: 'lab/qwen3', providers: lab } }, undefined, { provider: 'lab', id: 'qwen3', name: 'lab/qwen3', temperature: 0.2, maxTokens: 8192 }],
    ['an id with slashes', { config: { model: 'lab/org/qwen3', providers: lab } }, undefined, { provider: 'lab', id: 'org/qwen3' }],
    ['a flag before the config', { config: { model: 'lab/a', providers: lab } }, 'lab/b', { id: 'b' }],
    ['the environment before the config', { config: { model: 'lab/a', providers: lab }, env: { AGENT_MODEL: 'lab/b' } }, undefined, { id: 'b' }],
    ['a bare id with AGENT_BASE_URL', { env: { AGENT_BASE_URL: 'http://h/v1', AGENT_MODEL: 'qwen3' } }, undefined, { provider: 'env', id: 'qwen3', name: 'env/qwen3' }],
    ['an id with a slash with AGENT_BASE_URL', { env: { AGENT_BASE_URL: 'http://h/v1', AGENT_MODEL: 'org/qwen3' } }, undefined, { provider: 'env', id: 'org/qwen3' }],
    ['a known provider with AGENT_BASE_URL', { config: { providers: lab }, env: { AGENT_BASE_URL: 'http://h/v1' } }, 'lab/x', { provider: 'lab', id: 'x' }],
    ['env by its name', { env: { AGENT_BASE_URL: 'http://h/v1' } }, 'env/org/x', { provider: 'env', id: 'org/x' }],
    ['OpenAI', { env: { OPENAI_API_KEY: 'k' } }, 'openai/gpt-x', { provider: 'openai', id: 'gpt-x' }],
    ['Anthropic', { env: { ANTHROPIC_API_KEY: 'k' } }, 'anthropic/claude-x', { provider: 'anthropic', id: 'claude-x' }],
    ['numbers of the config', { config: { model: 'lab/a', providers: lab, temperature: 1, max_tokens: 5 } }, undefined, { temperature: 1, maxTokens: 5 }],
  ])('%s', async (_, world, wanted, expected) => {
    const { choose, asked } = chooser(world);
    expect(await choose(wanted)).toMatchObject(expected);
    expect(asked).toEqual([]);
  });

  it('of a local server needs no configuration', async () => {
    const { choose, offered } = chooser({});
    expect(await choose('ollama/qwen3:8b')).toMatchObject({ provider: 'ollama', id: 'qwen3:8b' });
    await choose('ollama/llama3');
    expect(offered).toEqual(['ollama']);
  });

  it('of an unknown provider: names the known ones, the nearest and the fix', async () => {
    const error = await refusal({ config: { providers: lab } }, 'lap/qwen3');
    expect(error.message).toContain('there is no provider "lap" (known: lab); did you mean lab/qwen3?');
    expect(error.message).toContain('providers: { lap: { base_url:');
    expect(error.details.kind).toBe('configuration');
  });

  it('of OpenAI without a key: the key is the fix, whoever else is known', async () => {
    expect((await refusal({ config: { providers: lab } }, 'openai/gpt-5')).message).toBe('provider openai needs an API key; export OPENAI_API_KEY=…');
    expect((await refusal({ config: { model: 'openai/gpt-5' } })).details.hint).toBe('export OPENAI_API_KEY=…');
    expect((await refusal({ env: { OPENAI_API_KEY: 'k' } }, 'anthropic/claude-x')).message).toBe('provider anthropic needs an API key; export ANTHROPIC_API_KEY=…');
  });

  it('without a provider', async () => {
    expect((await refusal({ config: { providers: lab } }, 'qwen3')).message).toContain('write provider/model, such as lab/qwen3');
    expect((await refusal({ config: { providers: lab } }, 'lab/')).message).toContain('write provider/model, such as lab/lab');
  });

  it('at an AGENT_BASE_URL that is no http URL', async () => {
    const error = await refusal({ env: { AGENT_BASE_URL: 'localhost:8000/v1', AGENT_MODEL: 'x' } });
    expect(error.message).toContain('"localhost:8000/v1" is not an http URL; set AGENT_BASE_URL');
  });
});

describe('no named model', () => {
  const found = { endpoint: localEndpoint({ name: 'ollama', product: 'Ollama', port: 11434 }), model: 'llama3' };

  it('a key for OpenAI is enough, and nothing is probed', async () => {
    const { choose, asked } = chooser({ env: { OPENAI_API_KEY: 'k' }, local: found });
    expect(await choose()).toMatchObject({ provider: 'openai' });
    expect(asked).toEqual([]);
  });

  it('so is one for Anthropic; with both, OpenAI is first', async () => {
    expect(await chooser({ env: { ANTHROPIC_API_KEY: 'k' }, local: found }).choose()).toMatchObject({ name: 'anthropic/claude-sonnet-5' });
    expect(await chooser({ env: { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' } }).choose()).toMatchObject({ provider: 'openai' });
    expect(await chooser({ env: { ANTHROPIC_API_KEY: 'k', AGENT_BASE_URL: 'http://h/v1', AGENT_MODEL: 'x' } }).choose()).toMatchObject({ name: 'env/x' });
  });

  it('a server with one model is enough', async () => {
    expect(await chooser({ env: { AGENT_BASE_URL: 'http://h/v1' }, listed: ['only'] }).choose()).toMatchObject({ provider: 'env', id: 'only' });
    expect(await chooser({ config: { providers: lab }, listed: ['only'] }).choose()).toMatchObject({ provider: 'lab', id: 'only' });
  });

  it('a server with several models: lists them', async () => {
    expect((await refusal({ env: { AGENT_BASE_URL: 'http://h/v1' }, listed: ['a', 'b'] })).message).toContain('AGENT_MODEL=a, AGENT_MODEL=b');
    expect((await refusal({ config: { providers: lab } })).message).toContain('model: lab/ID');
    const two = { ...lab, den: { base_url: 'http://127.0.0.1:8001/v1' } };
    expect((await refusal({ config: { providers: two }, listed: ['only'] })).message).toContain('model: lab/ID, model: den/ID');
  });

  it('a local server is found and offered', async () => {
    const { choose, offered } = chooser({ local: found });
    expect(await choose()).toMatchObject({ name: 'ollama/llama3' });
    expect(offered).toEqual(['ollama']);
  });

  it('nothing at all: names every way', async () => {
    const { message } = await refusal({ env: { AGENT_API_KEY: 'k' } });
    for (const way of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'AGENT_BASE_URL', 'AGENT_MODEL', 'providers:', 'model:', 'Ollama (11434)', 'LM Studio (1234)', 'llama.cpp (8080)', 'vLLM (8000)', 'agent tour']) {
      expect(message).toContain(way);
    }
    expect(message).toContain('AGENT_API_KEY is set, but no AGENT_BASE_URL');
  });
});

describe('endpoints', () => {
  it('never give a key of the environment to a configured address', () => {
    const config = manifest.config.parse({ providers: { openai: { base_url: 'http://elsewhere/v1' } } });
    expect(endpointsOf(config, { OPENAI_API_KEY: 'k', AGENT_API_KEY: 'k2' }).get('openai')?.apiKey).toBeUndefined();
    const anthropic = manifest.config.parse({ providers: { anthropic: { base_url: 'http://elsewhere/v1', wire: 'anthropic' } } });
    expect(endpointsOf(anthropic, { ANTHROPIC_API_KEY: 'k' }).get('anthropic')).toMatchObject({ apiKey: undefined, wire: 'anthropic', label: 'Anthropic-compatible server at http://elsewhere/v1' });
  });

  it.each([{ model: 5 }, { temperature: 3 }, { thinking: { budget_tokens: 1 } }, { thinking: { budget_tokens: 2048, x: 1 } }, { providers: { lab: { base_url: 'http://x', wire: 'anthropics' } } }, { max_tokens: 0 }, { providers: { lab: { base_url: 'ftp://x' } } }, { providers: { 'a/b': { base_url: 'http://x' } } }, { providers: { lab: { base_url: 'http://x', key: 'k' } } }])(
    'refuse the configuration %j',
    (config) => {
      expect(manifest.config.safeParse(config).success).toBe(false);
    },
  );
});

describe('local servers', () => {
  const at = (name: string, port: number) => ({ name, product: name, port });

  it('the first in the list that has a chat model', async () => {
    await using embeddings = await startModelServer([], { models: ['text-embedding-nomic'] });
    await using mixed = await startModelServer([], { models: ['nomic-embed-text', 'llama3'] });
    await using last = await startModelServer([], { models: ['qwen'] });
    const closed = await startModelServer([]);
    await closed.close();
    const found = await findLocalServer(fetch, [at('closed', closed.port), at('embeddings', embeddings.port), at('mixed', mixed.port), at('last', last.port)]);
    expect(found).toMatchObject({ endpoint: { name: 'mixed', baseUrl: mixed.url }, model: 'llama3' });
  });

  it('give up on a server that does not answer', async () => {
    const silent = (_: unknown, init?: RequestInit): Promise<Response> =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)));
    expect(await findLocalServer(silent, [at('silent', 1)])).toBeUndefined();
  });
});
