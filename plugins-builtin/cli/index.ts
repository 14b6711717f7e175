/** The built-in plugin `cli`: the terminal, and the commands that belong to no other plugin. */
import { definePlugin } from 'newt-agent';
import { chatCommand } from './chat/command.ts';
import { completionCommand } from './completion/command.ts';
import { configCheck } from './config-check.ts';
import { configCommands } from './config-commands.ts';
import { manifest } from './manifest.ts';
import { runCommand } from './run-command.ts';
import { createTerminal } from './terminal.ts';

export default definePlugin(manifest, (p) => ({
  channels: {
    cli: {
      description: 'The terminal',
      run: async ({ argv }) => (await import('./channel.ts')).serve(p, argv, createTerminal(process)),
    },
  },
  checks: { config: configCheck(p) },
  commands: { run: runCommand(p), chat: chatCommand(p), ...configCommands(p), completion: completionCommand(p) },
}));
