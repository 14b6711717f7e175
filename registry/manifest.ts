/** What is known of the plugin before any of its code runs. */
import { type PluginStatic, z } from 'newt-agent';

const config = z.object({
  install: z
    .object({
      registry: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional().describe('npm registry that plugins are installed from; default: the one npm is set to').meta({ examples: ['https://npm.example.org/'] }),
      min_age_days: z.number().min(1).default(7).describe('Days a release must have been public to be installed unasked'),
      max_packages: z.int().positive().default(40).describe('Packages a plugin may bring before you are asked'),
      max_mb: z.number().positive().default(20).describe('Megabytes a plugin may take unpacked before you are asked'),
      timeout: z.number().positive().default(60).describe('Seconds one request to the registry may take'),
    })
    .prefault({}),
});

export const manifest = {
  id: 'registry',
  activateOn: ['command:plugin', 'command:trust', 'commands', 'checks', 'onInstall'],
  // Where npm is told to look. Its tokens are never read.
  capabilities: ['env:npm_config_registry', 'env:NPM_CONFIG_REGISTRY'],
  config,
} as const satisfies PluginStatic<typeof config>;

export type RegistryConfig = z.output<typeof config>;
export type InstallSettings = RegistryConfig['install'];
