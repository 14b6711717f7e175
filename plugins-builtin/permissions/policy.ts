/** The basic policy: what a tool may do unasked. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { allow, ask, type Decision, deny, type GatedPath, type GatedUse, type PermissionMode, shellWord } from 'newt-agent';

/**
 * Reading inside the workspace is allowed; everything else is asked in `normal` and allowed in `auto`.
 * Two things stay asked in every mode: paths outside of the workspace, and writing into an `.agent`
 * folder, whose content can change what the agent is.
 *
 * @param allowed `tools.paths` as it is: the advice adds to it, since setting a list replaces it
 */
export function judge(use: GatedUse, mode: PermissionMode, allowed: readonly string[] = []): Decision {
  const outside = use.paths.find((path) => !path.inWorkspace);
  if (outside) return ask(`${verb(outside)} ${outside.real}, outside of the workspace`, `agent config set tools.paths ${shellWord(JSON.stringify([...allowed, folderOf(outside.real)]))}`);
  const inAgent = use.paths.find((path) => path.inAgentFolder && path.access === 'write');
  if (inAgent) return ask(`writes ${inAgent.given}, which can change what the agent itself does`);
  switch (use.effect) {
    case 'read':
      return allow('reads inside the workspace');
    case 'write':
      return mode === 'auto' ? allow('mode auto') : ask(`writes ${use.paths.map((path) => path.given).join(', ') || 'files'}`, '--yes');
    case 'exec':
      return mode === 'auto' ? allow('mode auto') : ask('runs a command', '--yes');
    case 'net':
      return mode === 'auto' ? allow('mode auto') : ask('uses the network', '--yes');
    default:
      return deny('its effect is unknown');
  }
}

function verb(path: GatedPath): string {
  return path.access === 'write' ? 'writes' : 'reads';
}

/** The folder to allow: the path itself where it is one, and never the whole disk for something in its root. */
function folderOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  const parent = dirname(path);
  return dirname(parent) === parent ? path : parent;
}
