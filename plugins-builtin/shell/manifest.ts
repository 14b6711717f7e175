/** What is known of the plugin before any of its code runs. */
import { type PluginStatic, toolSettings, z } from 'newt-agent';

export const manifest = {
  id: 'shell',
  activateOn: ['onSession', 'onProcess', 'onTerminal', 'checks'],
  capabilities: ['exec', 'env:PATH'],
  // Owned by the agent.
  config: z.object({ tools: toolSettings.pick({ timeout: true, allow_exec: true }).prefault({}) }),
} satisfies PluginStatic;
