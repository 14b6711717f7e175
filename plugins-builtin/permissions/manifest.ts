import { type PluginStatic, toolSettings, z } from 'newt-agent';

const config = z.object({
  permissions: z
    .object({ mode: z.enum(['normal', 'auto']).default('normal').describe('normal asks before writing and running; auto (--yes) does not') })
    .prefault({})
    .meta({ from: 'trusted-project' }),
  // Owned by the agent; looked at to give advice that keeps what is there.
  tools: toolSettings.pick({ paths: true }).prefault({}),
});

export const manifest = { id: 'permissions', activateOn: ['onSession', 'hook:tool.gate'], capabilities: ['gate:tool.gate'], config } as const satisfies PluginStatic<typeof config>;
