/** `agent plugin add` */
import { relative } from 'node:path';
import { type Command, command, configControl, kernelControl, oneLine, type PluginContext, shortPath } from 'newt-agent';
import { isInside } from '../kernel/paths.ts';
import { addFolder } from './add-folder.ts';
import { readCatalog } from './catalog.ts';
import { install } from './install/install.ts';
import { makePlan } from './install/plan.ts';
import { parseSource, type Source } from './install/source.ts';
import type { InstallTarget } from './install/tree.ts';
import { installOptions, openRun } from './install-run.ts';
import { interruptible } from './interrupts.ts';
import type { RegistryConfig } from './manifest.ts';
import { outlook } from './outlook.ts';
import { refused, reporting } from './report.ts';

/** Adds a plugin, after the person has seen what it is and what it asks for. */
export function addCommand(p: PluginContext<RegistryConfig>): Command {
  return command({
    description: 'Add a plugin: by name, from npm, a folder, or a .tgz file',
    arguments: [{ name: 'source', description: 'Name in the catalog, npm name[@range], ./folder or file.tgz', required: true, values: 'folders' }],
    options: [...installOptions],
    examples: ['agent plugin add git', 'agent plugin add agent-plugin-x@^1.2', 'agent plugin add ./my-plugin', 'agent plugin add agent-plugin-x --dry-run', 'agent plugin add agent-plugin-x --yes --accept young'],
    run: interruptible(reporting(async ({ arguments: { source: given }, options }, { io, signal }) => {
      const control = p.use(kernelControl);
      const catalog = readCatalog();
      const source = parseSource(String(given), catalog);
      if (source.kind === 'folder') {
        if (options['project']) throw refused('a folder of this machine means nothing on another one', 'put the plugin into .agent/plugins of the project');
        return addFolder(source.path, p, options, io, signal);
      }
      const run = await openRun(p, options, io, signal, catalog);
      if (source.kind === 'catalog' && !run.json) io.say(`"${source.name}" is a plugin of newt-agent itself. A package of the same name is: agent plugin add "${source.name}@*"`);
      const plan = await makePlan(source, askedFor(source, run.target), run.session, control.version);
      const outcome = await install(plan, 'add', run);
      switch (outcome.what) {
        case 'planned':
          return 0;
        case 'declined':
          io.say('Nothing was changed.');
          return 1;
        default: {
          const { what, entry } = outcome;
          const verbs = { added: 'Added', updated: 'Updated', unchanged: 'Unchanged:', mended: 'Mended' };
          if (run.json) io.json({ id: plan.id, result: what, ...entry });
          else io.print(`${verbs[what]} ${io.style.cyan(plan.id)} ${oneLine(entry.version, 40)} ${io.style.dim(`(${entry.name})`)}`);
          if (what !== 'unchanged') for (const line of outlook(plan.id, control.plugins(), p.use(configControl).config.get('plugins.disabled'))) io.say(line);
          if (run.target.project !== undefined && what !== 'unchanged') io.say('The project has changed: look at it, then: agent trust grant');
          return 0;
        }
      }
    })),
  });
}

/** As the lock file tells it: a lock of a project names nothing of this machine. */
function askedFor(source: Exclude<Source, { kind: 'folder' }>, { project }: InstallTarget): string {
  if (source.kind === 'catalog') return source.name;
  if (source.kind === 'npm') return source.range === '' ? source.name : `${source.name}@${source.range}`;
  if (project === undefined) return source.path;
  if (!isInside(project, source.path)) throw refused(`${shortPath(source.path)} is not in the project: nobody else would have it`, `copy it into ${shortPath(project)} first`);
  return relative(project, source.path).replaceAll('\\', '/');
}
