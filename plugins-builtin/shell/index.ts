/** The built-in plugin `shell`: commands of the workspace. */
import { configControl, definePlugin, isKernelError, type PluginContext, processGuardian, terminalModes } from 'newt-agent';
import { commandGroups } from './command-groups.ts';
import { createGuardian } from './guardian.ts';
import { manifest } from './manifest.ts';
import { runCommandTool } from './run-command.ts';
import { shellCheck } from './shell-check.ts';

export default definePlugin(manifest, (p) => {
  const guardian = createGuardian((reason) => p.log.warn(`what runs when the agent is killed will go on, for /bin/sh could not be started: ${reason}`));
  const groups = commandGroups(guardian);
  p.provide(processGuardian, guardian);
  p.provide(terminalModes, guardian);
  p.own({ dispose: () => groups.endAll() });
  const { timeout, allow_exec: allowExec } = p.config.tools;
  return {
    tools: { run_command: runCommandTool({ timeout, allowExec, groups, hidden: configuredVariables(p) }) },
    checks: { shell: shellCheck(p, allowExec) },
    hooks: { 'session.end': ({ session }) => groups.endSession(session) },
  };
});

/** The variables that the configuration reads; there is none where the kernel runs without one. */
function configuredVariables(p: Pick<PluginContext, 'use'>): readonly string[] {
  try {
    return p.use(configControl).config.variables;
  } catch (error) {
    if (isKernelError(error) && error.code === 'NO_SERVICE') return [];
    throw error;
  }
}
