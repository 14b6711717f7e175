import { agentHooks, channelsPoint, commandsPoint, type PluginStatic, providersPoint, toolsPoint, z } from 'newt-agent';

const config = z.object({
  react: z
    .object({
      enabled: z.boolean().default(true).describe('Work in rounds with tools; false: one answer, no tools'),
      max_rounds: z.int().positive().default(50).describe('Rounds after which a run stops'),
    })
    .prefault({})
    .meta({ from: 'any' }),
  tools: z
    .object({
      timeout: z.number().positive().default(120).describe('Seconds a tool may take, unless it sets its own limit'),
      allow_exec: z.boolean().default(true).describe('Whether commands may be run at all'),
      paths: z.array(z.string()).default([]).describe('Folders beyond the workspace that tools may use'),
    })
    .prefault({})
    .meta({ from: 'trusted-project' }),
});

export const manifest = {
  id: 'agent',
  config,
  defines: { hooks: agentHooks, points: [toolsPoint, commandsPoint, channelsPoint, providersPoint] },
} as const satisfies PluginStatic<typeof config>;

export type AgentConfig = z.output<typeof config>;
