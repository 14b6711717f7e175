/** The static half of the plugin: its id, its capabilities and the configuration keys it owns. */
import { z, type PluginStatic } from 'newt-agent';

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be a URL like http://127.0.0.1:8000/v1' });

const providerConfig = z.strictObject({
  base_url: httpUrl.describe('Base URL of the API, usually ending in /v1'),
  api_key: z.string().optional().describe('Key, sent as the wire wants it; ${VAR} reads the environment'),
  wire: z.enum(['openai-chat', 'anthropic']).default('openai-chat').describe('Protocol the server speaks: OpenAI chat completions, or Anthropic messages'),
  headers: z.record(z.string(), z.string()).optional().describe('Further request headers'),
});

const providerName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'use letters, digits, _ and -');

const config = z.object({
  model: z.string().min(1, 'must not be empty').optional().describe('Model to use, as provider/model').meta({ from: 'trusted-project' }),
  temperature: z.number().min(0).max(2).default(0.2).describe('Sampling temperature').meta({ from: 'any' }),
  max_tokens: z.int().positive().default(8192).describe('Longest answer, in tokens').meta({ from: 'any' }),
  thinking: z
    .strictObject({ budget_tokens: z.int().min(1024).describe('Tokens the model may think with, besides max_tokens').meta({ examples: [4096] }) })
    .optional()
    .describe('Lets models of the anthropic wire think before they answer; they get no temperature then')
    .meta({ from: 'any' }),
  providers: z.record(providerName, providerConfig).default({}).describe('Model servers by name; wire: openai-chat or anthropic').meta({ from: 'trusted-project', examples: [{ lab: { base_url: 'http://127.0.0.1:8000/v1', api_key: '${LAB_KEY}', wire: 'openai-chat' } }] }),
});

export type ModelsConfig = z.output<typeof config>;

export const environmentNames = ['AGENT_MODEL', 'AGENT_BASE_URL', 'AGENT_API_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY'] as const;

/** What the environment says about models. Empty variables count as unset. */
export type ModelsEnvironment = { readonly [Name in (typeof environmentNames)[number]]?: string };

export const manifest = {
  id: 'models',
  activateOn: ['onSession', 'checks'],
  capabilities: ['net', ...environmentNames.map((name) => `env:${name}`)],
  config,
} satisfies PluginStatic;
