/** The wires a run is tested over: a scripted server of each, and what the person configures to use it. */
import { startAnthropicServer } from './anthropic-server.ts';
import { createPlace, type Place } from './agent-process.ts';
import { type ModelServer, type ModelServerOptions, type Script, startModelServer } from './model-server.ts';

export interface TestedWire {
  readonly name: string;
  start(script: Script, options?: ModelServerOptions): Promise<ModelServer>;
  /** A place whose configuration names the server. */
  place(url: string): Place;
  /** The variable that holds the key there, and the setting that an error about it names. */
  readonly keyVariable: string;
  readonly keySetting: string;
}

export const wires: readonly TestedWire[] = [
  { name: 'OpenAI chat', start: startModelServer, place: (url) => createPlace(url), keyVariable: 'AGENT_API_KEY', keySetting: 'AGENT_API_KEY' },
  {
    name: 'Anthropic',
    start: startAnthropicServer,
    place: (url) => createPlace(undefined, anthropicConfig(url)),
    keyVariable: 'LAB_KEY',
    keySetting: 'providers.lab.api_key',
  },
];

export function anthropicConfig(url: string): string {
  return `model: lab/test\nproviders:\n  lab: { base_url: "${url}", api_key: "\${LAB_KEY:-}", wire: anthropic }\n`;
}
