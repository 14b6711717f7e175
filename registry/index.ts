/** The built-in plugin `registry`: the commands `plugin` and `trust`. */
import { definePlugin, installer, type PluginContext } from 'newt-agent';
import { addCommand } from './add.ts';
import { bisectCommand } from './bisect.ts';
import { pluginsCheck, trustCheck } from './checks.ts';
import { devCommand } from './dev.ts';
import { disableCommand } from './disable.ts';
import { doctorCommand } from './doctor.ts';
import { enableCommand } from './enable.ts';
import { faultsCommand } from './faults.ts';
import { infoCommand } from './info.ts';
import { listCommand } from './list.ts';
import { manifest, type RegistryConfig } from './manifest.ts';
import { newCommand } from './new.ts';
import { outdatedCommand } from './outdated.ts';
import { releaseCommand } from './release.ts';
import { removeCommand } from './remove.ts';
import { rollbackCommand } from './rollback.ts';
import { searchCommand } from './search.ts';
import { syncCommand } from './sync.ts';
import { grantCommand, revokeCommand, trustStatusCommand } from './trust.ts';
import { updateCommand } from './update.ts';
import { whyCommand } from './why.ts';

export default definePlugin(manifest, (p) => {
  // Loaded when somebody installs: the commands that only show need none of it.
  p.provide(installer, { install: async (request) => (await import('./install/declared.ts')).installDeclared(p, request) });
  return contributions(p);
});

const contributions = (p: PluginContext<RegistryConfig>) => ({
  checks: { plugins: pluginsCheck(p), trust: trustCheck(p) },
  commands: {
    plugin: {
      description: 'List, add, update, remove, write, explain and mend plugins',
      examples: ['agent plugin list', 'agent plugin add git', 'agent plugin new word-count', 'agent plugin why tool.gate'],
    },
    'plugin list': listCommand(p),
    'plugin info': infoCommand(p),
    'plugin search': searchCommand(p),
    'plugin add': addCommand(p),
    'plugin remove': removeCommand(p),
    'plugin update': updateCommand(p),
    'plugin rollback': rollbackCommand(p),
    'plugin outdated': outdatedCommand(p),
    'plugin sync': syncCommand(p),
    'plugin new': newCommand(p),
    'plugin dev': devCommand(p),
    'plugin enable': enableCommand(p),
    'plugin disable': disableCommand(p),
    'plugin bisect': bisectCommand(p),
    'plugin doctor': doctorCommand(p),
    'plugin faults': faultsCommand(p),
    'plugin release': releaseCommand(p),
    'plugin why': whyCommand(p),
    trust: {
      description: 'Decide whether the plugins and settings of this project may take effect',
      examples: ['agent trust status', 'agent trust grant'],
    },
    'trust status': trustStatusCommand(p),
    'trust grant': grantCommand(p),
    'trust revoke': revokeCommand(p),
  },
});
