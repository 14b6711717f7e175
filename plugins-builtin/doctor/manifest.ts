import type { PluginStatic } from 'newt-agent';

export const manifest = {
  id: 'doctor',
  activateOn: ['command:doctor', 'checks', 'commands'],
  capabilities: ['exec', 'env:PATH'],
} as const satisfies PluginStatic;
