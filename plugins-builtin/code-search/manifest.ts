import type { PluginStatic } from 'newt-agent';

export const manifest = {
  id: 'code-search',
  activateOn: ['onSession', 'checks'],
  capabilities: ['exec', 'env:PATH'],
} as const satisfies PluginStatic;
