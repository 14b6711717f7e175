import type { PluginStatic } from 'newt-agent';

export const manifest = {
  id: 'code-search',
  capabilities: ['exec', 'env:PATH'],
  activateOn: ['tool:grep', 'tool:glob'],
} as const satisfies PluginStatic;
