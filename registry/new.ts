/** `agent plugin new` */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type Command, command, kernelControl, oneLine, type PluginContext, shellWord, shortPath } from 'newt-agent';
import { idPattern } from '../kernel/manifest.ts';
import { packageFolder } from './package-folder.ts';
import { failed, refused, reporting } from './report.ts';
import { type Kind, kinds, pluginFiles } from './template.ts';

export function newCommand(p: PluginContext): Command {
  return command({
    description: 'Write a new plugin that works, with its tests',
    arguments: [{ name: 'id', description: 'Id of the plugin: lower-case letters, digits and dashes', required: true }],
    options: [
      { flags: '--kind <kind>', description: 'What it brings: tool (default), command or hook', values: kinds },
      { flags: '--js', description: 'Plain JavaScript instead of TypeScript' },
      { flags: '--dir <folder>', description: 'Folder to write; default: the id, in this folder', values: 'folders' },
      { flags: '--json', description: 'Print what was written as JSON' },
    ],
    examples: ['agent plugin new word-count', 'agent plugin new deploy --kind command', 'agent plugin new keys --kind hook --js --dir ~/src/keys'],
    run: reporting(async ({ arguments: { id: given }, options }, { io }) => {
      const { version, ...control } = p.use(kernelControl);
      const id = String(given);
      const kind = kindOf(options['kind']);
      const js = options['js'] === true;
      if (!idPattern.test(id)) throw refused(`"${oneLine(id, 60)}" is not a plugin id`, 'use lower-case letters, digits and dashes, at most 32, a letter first');
      const taken = control.plugins().find((plugin) => plugin.id === id);
      if (taken?.tier === 'builtin') throw refused(`"${id}" is the id of a built-in plugin`, 'give yours another id');
      if (kind === 'command') await refuseCommand(p, id);
      const folder = resolve(typeof options['dir'] === 'string' ? options['dir'] : id);
      refuseOccupied(folder);
      const files = pluginFiles({ id, kind, js, host: packageFolder(), version });
      write(folder, files);
      if (options['json']) io.json({ id, kind, folder, files: Object.keys(files) });
      else io.print(`Wrote ${io.style.cyan(id)} ${io.style.dim(`(${shortPath(folder)})`)}: ${Object.keys(files).filter((name) => !name.startsWith('.')).join(', ')}`);
      if (taken) io.say(`There is a plugin ${id} already (${taken.tier}, ${shortPath(taken.path)}): of two with one id one runs.`);
      for (const line of next(id, kind, folder)) io.say(line);
      return 0;
    }),
  });
}

/** The command is called like the plugin. @throws OperationalError where that name is the agent's own */
async function refuseCommand(p: PluginContext, id: string): Promise<void> {
  await p.activate('commands');
  const own = [...p.items('commands').values()].find(({ name, tier }) => tier === 'builtin' && name.split(' ', 1)[0] === id);
  if (own) throw refused(`"agent ${id}" is a command already`, 'give the plugin another id: its command has the same name');
}

function kindOf(given: string | boolean | undefined): Kind {
  const kind = kinds.find((one) => one === (given ?? 'tool'));
  if (!kind) throw refused(`there is no kind "${oneLine(String(given), 40)}"`, `--kind is one of ${kinds.join(', ')}`);
  return kind;
}

function refuseOccupied(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) throw refused(`${shortPath(folder)} is a file`, 'name another folder with --dir');
  if (readdirSync(folder).length > 0) throw refused(`${shortPath(folder)} is not empty, and nothing is written over`, 'name another folder with --dir');
}

/** @throws OperationalError where it cannot be written */
function write(folder: string, files: Readonly<Record<string, string>>): void {
  try {
    mkdirSync(folder, { recursive: true });
    // Never over a file that somebody else has put there meanwhile.
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { flag: 'wx' });
  } catch (error) {
    throw failed(`${shortPath(folder)} cannot be written: ${(error as Error).message}`, 'name another folder with --dir');
  }
}

const uses: Readonly<Record<Kind, (id: string) => string>> = {
  tool: () => 'agent run "greet Ada"',
  command: (id) => `agent ${id} Ada`,
  hook: () => 'agent run "read .env"',
};

function next(id: string, kind: Kind, folder: string): string[] {
  const way = relative(process.cwd(), folder);
  return ['Next:', ...(way === '' ? [] : [`  cd ${shellWord(way.startsWith('..') ? folder : way)}`]), '  npm install && npm test', '  agent plugin dev       # says what is wrong after every change', `  agent plugin add .     # then: ${uses[kind](id)}`];
}
