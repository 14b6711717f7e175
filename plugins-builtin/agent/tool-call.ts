/** What a tool is given to work with: the paths it may use, and a way to show what it does. */
import { type GatedPath, OperationalError, type PermissionMode, type PluginContext, type ToolCall, type ToolSession, type Touch } from 'newt-agent';
import type { Asker } from './asker.ts';
import type { EventLog } from './event-log.ts';
import type { ToolOutput } from './tool-output.ts';
import { contains, resolvePath, type Workspace } from './workspace.ts';

export interface RoundHost {
  readonly p: PluginContext;
  readonly log: EventLog;
  readonly workspace: Workspace;
  readonly session: ToolSession;
  readonly ask: Asker;
  /** What the person chose for this session. */
  readonly mode: PermissionMode | undefined;
  /** Milliseconds a tool may take that sets no limit of its own. */
  readonly timeout: number;
}

export async function gatedPath({ workspace, session }: RoundHost, { path, access }: Touch): Promise<GatedPath> {
  const resolved = await resolvePath(workspace, path);
  // What a result was too large to show may be read where it was kept, or it would be lost after all.
  const isKept = access === 'read' && !resolved.inWorkspace && contains((await resolvePath(workspace, session.spillFolder)).real, resolved.real);
  return { given: path, access, ...resolved, ...(isKept && { inWorkspace: true }) };
}

/** @param approved what the gate let through for this call, beyond what every call may use */
export function toolCall(host: RoundHost, id: string, output: ToolOutput, approved: readonly GatedPath[], signal: AbortSignal): ToolCall {
  const context = {
    id,
    session: host.session,
    signal,
    output: (text: string) => output.push(String(text)),
    async resolve(path: string, access: Touch['access']): Promise<string> {
      // Judged again at the moment of use: a symlink may have changed since the gate saw it.
      const { real, inWorkspace, inAgentFolder } = await gatedPath(host, { path, access });
      const granted = approved.some((one) => one.real === real && (one.access === 'write' || access === 'read'));
      if (granted || (inWorkspace && (access === 'read' || !inAgentFolder))) return real;
      throw new OperationalError(`${path} ${inWorkspace ? 'lies in an .agent folder' : 'lies outside of the workspace'}, and was not approved`);
    },
  };
  return context as unknown as ToolCall;
}
