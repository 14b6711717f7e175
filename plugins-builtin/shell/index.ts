/** The built-in plugin `shell`: commands of the workspace. */
import { definePlugin } from 'newt-agent';
import { commandGroups } from './command-groups.ts';
import { manifest } from './manifest.ts';
import { runCommandTool } from './run-command.ts';

export default definePlugin(manifest, (p) => {
  const groups = commandGroups();
  p.own({ dispose: () => groups.endAll() });
  const { timeout, allow_exec: allowExec } = p.config.tools;
  return {
    tools: { run_command: runCommandTool({ timeout, allowExec, groups }) },
    hooks: { 'session.end': ({ session }) => groups.endSession(session) },
  };
});
