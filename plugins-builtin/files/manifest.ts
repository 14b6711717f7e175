import type { PluginStatic } from 'newt-agent';

export const manifest = {
  id: 'files',
  capabilities: ['fs:write'],
  activateOn: ['tool:read_file', 'tool:write_file', 'tool:replace_in_file', 'tool:list_directory'],
} as const satisfies PluginStatic;
