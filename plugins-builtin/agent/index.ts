/** The agent: sessions, the loop, and the tools that belong to the loop itself. */
import { join } from 'node:path';
import { definePlugin, kernelControl, modelChooser, OperationalError, type SessionOptions, sessions, trustControl } from 'newt-agent';
import { manifest } from './manifest.ts';
import { openSession } from './session.ts';
import { dispatchTool, searchTool, taskDone, taskDoneTool, useTool } from './tool-catalog.ts';
import { openWorkspace } from './workspace.ts';

export default definePlugin(manifest, (p) => {
  // Calls made, by session: what task_done may name as evidence.
  const calls = new Map<string, Set<string>>();

  p.provide(sessions, {
    async open(options: SessionOptions) {
      await p.activate('onSession');
      const kernel = p.use(kernelControl);
      const { config, data, state, cache } = kernel.paths;
      const project = p.use(trustControl).folder;
      const workspace = await openWorkspace(options.cwd, p.config.tools.paths, [config, data, state, cache, ...(project === undefined ? [] : [project])]);
      const choice = await p.use(modelChooser).choose(options.model);
      const provider = p.items('providers').get(choice.provider);
      if (!provider) throw new OperationalError(`there is no provider "${choice.provider}"`, { hint: 'name one that is configured under "providers"' });
      const session = await openSession(
        {
          p,
          kernel,
          choice,
          provider,
          workspace,
          folder: join(kernel.paths.state, 'sessions', folderName(workspace.cwd)),
          onCall: (id, call) => calls.set(id, (calls.get(id) ?? new Set()).add(call)),
        },
        options,
      );
      const { close } = session;
      return { ...session, close: () => close().finally(() => calls.delete(session.id)) };
    },
  });

  return {
    tools: {
      [taskDone.name]: taskDoneTool((session, id) => calls.get(session)?.has(id) ?? false),
      tool_search: searchTool(() => p.items('tools')),
      [useTool.name]: dispatchTool(),
    },
  };
});

/** A folder name that tells a person which workspace it is of. */
function folderName(cwd: string): string {
  return cwd.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '').slice(-100) || 'root';
}
