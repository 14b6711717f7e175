/** What is known of the plugin before any of its code runs. */
import type { PluginStatic } from 'newt-agent';

export const manifest = {
  id: 'registry',
  activateOn: ['command:plugin', 'command:trust', 'commands', 'checks'],
  capabilities: [],
} satisfies PluginStatic;
