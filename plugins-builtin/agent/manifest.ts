import { agentHooks, channelsPoint, checksPoint, commandsPoint, type PluginStatic, providersPoint, toolSettings, toolsPoint, z } from 'newt-agent';

const config = z.object({
  react: z
    .object({
      enabled: z.boolean().default(true).describe('Work in rounds with tools; false: one answer, no tools'),
      max_rounds: z.int().positive().default(50).describe('Rounds after which a run stops'),
    })
    .prefault({})
    .meta({ from: 'any' }),
  tools: toolSettings.prefault({}).meta({ from: 'trusted-project' }),
});

export const manifest = {
  id: 'agent',
  // How the process ended that this one goes on for: told by `agent run --supervised`.
  capabilities: ['env:AGENT_ENDED_BY'],
  config,
  defines: { hooks: agentHooks, points: [toolsPoint, commandsPoint, channelsPoint, providersPoint, checksPoint] },
} as const satisfies PluginStatic<typeof config>;

export type AgentConfig = z.output<typeof config>;
