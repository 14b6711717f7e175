/** The agent: sessions, the loop, and the tools that belong to the loop itself. */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { definePlugin, isOperational, kernelControl, type LanguageModelV4, type ModelChoice, modelChooser, OperationalError, type SessionOptions, sessions, trustControl } from 'newt-agent';
import { latestLog, modelOf, sessionsFolder } from './latest-log.ts';
import { manifest } from './manifest.ts';
import { openCall } from './open-call.ts';
import { type ChosenModel, openSession } from './session.ts';
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
      const choice = await chosen(options);
      const folder = sessionsFolder(kernel.paths.state, workspace.cwd);
      const last = latestLog(folder);
      const open = last === undefined ? undefined : openCall(last);
      if (open !== undefined) await kernel.blame('tools', open.tool, { how: p.env('AGENT_ENDED_BY'), pid: open.pid });
      const onCall = (id: string, call: string): void => void calls.set(id, (calls.get(id) ?? new Set()).add(call));
      const session = await openSession({ p, kernel, choice, modelOf: chosenModel, workspace, folder, onCall }, options);
      const { close } = session;
      return { ...session, close: () => close().finally(() => calls.delete(session.id)) };
    },
    latest: async (cwd) => latestLog(sessionsFolder(p.use(kernelControl).paths.state, await realpath(resolve(cwd)))),
  });

  /** What a session was at before it ended, unless that can no longer be had. */
  const chosen = async ({ model, resume }: SessionOptions): Promise<ModelChoice> => {
    const { choose } = p.use(modelChooser);
    const before = model === undefined && resume !== undefined ? modelOf(resume) : undefined;
    if (before === undefined) return choose(model);
    try {
      return await choose(before);
    } catch (error) {
      if (!isOperational(error)) throw error;
      return choose();
    }
  };

  const chosenModel = async (choice: ModelChoice): Promise<ChosenModel> => {
    const provider = p.items('providers').get(choice.provider);
    if (!provider) throw new OperationalError(`there is no provider "${choice.provider}"`, { hint: 'name one that is configured under "providers"' });
    return { choice, model: (await provider.item.model(choice.id)) as LanguageModelV4, scripted: provider.item.scripted ?? false };
  };

  return {
    tools: {
      [taskDone.name]: taskDoneTool((session, id) => calls.get(session)?.has(id) ?? false),
      tool_search: searchTool(() => p.items('tools')),
      [useTool.name]: dispatchTool(),
    },
  };
});
