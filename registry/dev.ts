/** `agent plugin dev` */
import { resolve } from 'node:path';
import { type Command, type CommandIO, command, configControl, decidesOnSignal, faultTitle, oneLine, type PluginContext, printable, shortPath, wrap } from 'newt-agent';
import { discoverPlugin } from '../kernel/discover.ts';
import { realPath } from '../kernel/paths.ts';
import { examine, type Examination, isWell } from './examination.ts';
import { frame } from './faults.ts';
import { textColumns } from './layout.ts';
import { refused, reporting } from './report.ts';
import { watchFolder } from './watch-folder.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function devCommand(p: PluginContext): Command {
  return command({
    description: 'Watch a plugin while you write it: what it contributes, and what is wrong',
    arguments: [{ name: 'folder', description: 'Folder of the plugin; default: this one', values: 'folders' }],
    options: [
      { flags: '--chaos', description: 'Put it through chaos each time' },
      { flags: '--once', description: 'Look once; exit code 1 when something is wrong' },
      { flags: '--json', description: 'Print each look as one line of JSON' },
    ],
    examples: ['agent plugin dev', 'agent plugin dev ./my-plugin --chaos', 'agent plugin dev --once --chaos --json'],
    run: reporting(async ({ arguments: { folder: given }, options }, { io, signal }) => {
      const folder = realPath(resolve(given === undefined ? '.' : String(given)));
      const candidate = folder === undefined ? undefined : discoverPlugin('global', folder);
      if (folder === undefined) throw refused(`${String(given)} does not exist`, 'give the folder of a plugin');
      if (!candidate) throw refused(`${shortPath(folder)} holds no plugin: neither a package.json with an "agent" part nor an index.ts or index.js`, 'to write one: agent plugin new <id>');
      const interrupted = new AbortController();
      const stop = decidesOnSignal((): void => interrupted.abort());
      for (const name of signals) process.on(name, stop);
      const over = AbortSignal.any([signal, interrupted.signal]);
      const look = (current: AbortSignal): Promise<Examination> => {
        const all = p.use(configControl).config.get('plugins.config') as Readonly<Record<string, unknown>> | undefined;
        const id = discoverPlugin('global', folder)?.manifest.id ?? candidate.manifest.id;
        return examine(folder, { chaos: options['chaos'] === true, config: all?.[id], env: process.env, signal: current });
      };
      const show = (found: Examination): void => (options['json'] ? io.json(found) : print(found, folder, io));
      try {
        if (options['once']) {
          const found = await look(over);
          if (over.aborted) return 130;
          show(found);
          return isWell(found) ? 0 : 1;
        }
        io.say(io.style.dim(`Watching ${shortPath(folder)}. Ctrl-C ends it. Nothing is reloaded in agents that run already: they see it at their next start.`));
        await lookAgainAndAgain(folder, over, look, show);
        return 130;
      } finally {
        for (const name of signals) process.off(name, stop);
      }
    }),
  });
}

/** Looks at the start and after every change, until `over`. A change ends the look it makes stale. */
async function lookAgainAndAgain(folder: string, over: AbortSignal, look: (signal: AbortSignal) => Promise<Examination>, show: (found: Examination) => void): Promise<void> {
  let changed = Promise.withResolvers<void>();
  let stale = new AbortController();
  const unwatch = watchFolder(folder, () => {
    stale.abort();
    changed.resolve();
  });
  over.addEventListener('abort', () => changed.resolve(), { once: true });
  try {
    while (!over.aborted) {
      changed = Promise.withResolvers<void>();
      stale = new AbortController();
      const found = await look(AbortSignal.any([over, stale.signal]));
      if (over.aborted) return;
      if (stale.signal.aborted) continue;
      show(found);
      if (!over.aborted) await changed.promise;
    }
  } finally {
    unwatch();
  }
}

function print(found: Examination, folder: string, io: CommandIO): void {
  const { bold, cyan, dim, green, red } = io.style;
  const { id = '', version, state = '', reason, contributes = [], faults = [], typeErrors, chaos, problem } = found;
  const columns = textColumns(io);
  const say = (text: string, style = (line: string): string => line): void => {
    for (const line of wrap(printable(text), columns, 2)) io.print(style(line));
  };
  io.print('');
  io.print(problem === undefined ? `${isWell(found) ? green('✓') : red('✗')} ${cyan(oneLine(id, 60))} ${oneLine(version ?? '', 40)} ${bold(state)}` : `${red('✗')} ${cyan(shortPath(folder))}`);
  if (problem !== undefined) for (const line of problem.split('\n')) say(`  ${line}`);
  if (state !== 'activated' && faults.length === 0 && reason !== undefined) say(`  ${reason}`);
  for (const part of contributes) say(`  ${part}`, dim);
  if (state === 'activated' && contributes.length === 0) say('  it contributes nothing: return tools, commands or hooks from setup');
  for (const fault of faults) {
    say(`  ${faultTitle(fault)}`, bold);
    for (const { text, isFault } of frame(fault, { path: folder }, columns - 4)) io.print(`    ${isFault ? text : dim(text)}`);
  }
  for (const line of typeErrors ?? []) say(`  ${line}`, red);
  if (typeErrors?.length === 0) say('  types: no error', dim);
  if (chaos) for (const line of chaos.text.split('\n')) say(`  ${line}`, chaos.ok ? dim : undefined);
}
