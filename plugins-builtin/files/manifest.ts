import type { PluginStatic } from 'newt-agent';

export const manifest = {
  id: 'files',
  activateOn: ['onSession'],
  capabilities: ['fs:write'],
} as const satisfies PluginStatic;
