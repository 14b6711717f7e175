import type { PluginStatic } from 'newt-agent';

export const manifest = {
  id: 'tour',
  activateOn: ['command:tour', 'provider:tour', 'commands'],
} as const satisfies PluginStatic;
