/** What is known of the plugin before any of its code runs. */
import type { PluginStatic } from 'newt-agent';

export const manifest = { id: 'cli', capabilities: [] } as const satisfies PluginStatic;
