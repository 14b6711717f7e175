/** What is known of the plugin before any of its code runs. */
import { type PluginStatic, z } from 'newt-agent';

export const manifest = {
  id: 'shell',
  activateOn: ['onSession'],
  capabilities: ['exec'],
  config: z.object({
    tools: z
      .object({
        /** Seconds. */
        timeout: z.number().positive().default(120),
        allow_exec: z.boolean().default(true),
      })
      .prefault({}),
  }),
} satisfies PluginStatic;
