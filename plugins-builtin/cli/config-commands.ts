/** `agent config …`: what is configured, where that comes from, and how to change it. */
import { existsSync } from 'node:fs';
import {
  command,
  type Command,
  type CommandIO,
  configControl,
  type ConfigControl,
  configurationError,
  type Invocation,
  maskSecrets,
  oneLine,
  OperationalError,
  type PluginContext,
  settingText,
  shortPath,
  table,
  type TableLayout,
} from 'newt-agent';
import { explain } from './config-explain.ts';
import { settingsSchemas } from './config-schema.ts';
import { type ConfigEntry, configEntries, isKnown, isWithin, originText, placeText, unknownKey } from './config-value.ts';
import { sayError } from './failure.ts';
import { isTerminal } from './terminal.ts';

type ConfigCommand = (config: ConfigControl, invocation: Invocation, io: CommandIO) => number | Promise<number>;

const key = { name: 'key', description: 'Dotted name, such as react.max_rounds', required: true, values: 'config-keys' } as const;
const project = { flags: '--project', description: 'In the file of this project instead of your own' };

export function configCommands(p: PluginContext): Readonly<Record<string, Command>> {
  const run =
    (act: ConfigCommand): Command['run'] =>
    async (invocation, { io }) => {
      try {
        return await act(p.use(configControl), invocation, io);
      } catch (error) {
        return sayError(io, error);
      }
    };
  return {
    config: command({ description: 'Show and change the configuration', examples: ['agent config list', 'agent config set model openai/gpt-5'] }),
    'config list': command({
      description: 'List every key, its value and where that comes from',
      options: [{ flags: '--json', description: 'Print a JSON array' }],
      examples: ['agent config list', 'agent config list --json | jq'],
      run: run(list),
    }),
    'config get': command({
      description: 'Print the value of a key',
      arguments: [key],
      examples: ['agent config get model'],
      run: run(get),
    }),
    'config set': command({
      description: 'Set a key',
      arguments: [
        key,
        { name: 'value', description: 'As in YAML: 20, true, [a, b]', required: true },
      ],
      options: [project],
      examples: ['agent config set model openai/gpt-5', "agent config set providers.lab.base_url http://127.0.0.1:8000/v1", 'agent config set react.max_rounds 20 --project'],
      run: run(set),
    }),
    'config unset': command({
      description: 'Take a key out of the file, and say what holds now',
      arguments: [key],
      options: [project],
      examples: ['agent config unset model', 'agent config unset providers.lab', 'agent config unset react.max_rounds --project'],
      run: run(unset),
    }),
    'config explain': command({
      description: 'Show what every layer says of a key, and which one counts',
      arguments: [{ ...key, description: 'Dotted name; all that are set where none is given', required: false }],
      options: [{ flags: '--json', description: 'Print a JSON array' }],
      examples: ['agent config explain', 'agent config explain react.max_rounds', 'agent config explain model --json | jq'],
      run: run(explain),
    }),
    'config schema': command({
      description: 'Print the JSON Schema of the configuration, for editors',
      options: [{ flags: '--json', description: 'On one line' }, { flags: '--write', description: 'Write it beside the configuration file, where its first line refers to it' }, { ...project, description: 'For the file of this project' }],
      examples: ['agent config schema > agent.schema.json', 'agent config schema --write', 'agent config schema --write --project'],
      run: run((config, invocation, io) => schema(p, config, invocation, io)),
    }),
    'config path': command({
      description: 'List the configuration files, the strongest first',
      examples: ['agent config path'],
      run: run(paths),
    }),
    'config init': command({
      description: 'Write a commented configuration file',
      options: [project],
      examples: ['agent config init', 'agent config init --project'],
      run: run((config, invocation, io) => init(p, config, invocation, io)),
    }),
  };
}

function list(control: ConfigControl, { options }: Invocation, io: CommandIO): number {
  const entries = configEntries(control).map((entry) => ({ ...entry, value: maskSecrets(entry.key, entry.value) }));
  if (options['json']) {
    // Member by member: only what was masked may get out.
    io.json(entries.map(({ key, value, origin: { layer, file, line, variable } }) => ({ key, value: value ?? null, origin: { layer, file, line, variable } })));
    return 0;
  }
  const { cyan, dim } = io.style;
  const rows = entries.map(({ key, value, origin }) => (isUnset({ value, origin }) ? [key, '-', ''] : [key, settingText(value), originText(origin)]));
  io.print(table(rows, [{ title: 'KEY', style: cyan }, { title: 'VALUE' }, { title: 'FROM', style: dim }], layout(io)));
  for (const { key, file, line, why } of control.config.ignored) {
    const place = file === undefined ? '' : `${shortPath(file)}:${line}: `;
    warn(io, `${place}${key} is ignored: ${why}`);
  }
  return 0;
}

function get(control: ConfigControl, { arguments: { key = '' } }: Invocation, io: CommandIO): number {
  const wanted = String(key);
  const value = control.config.get(wanted);
  if (value === undefined) {
    if (!isKnown(control, wanted)) throw unknownKey(control, wanted);
    throw new OperationalError(`${wanted} is not set`, { hint: `agent config set ${wanted} <value>` });
  }
  // A secret is shown where it is asked for by its own name.
  io.print(settingText(typeof value === 'string' ? value : maskSecrets(wanted, value)));
  return 0;
}

async function set(control: ConfigControl, { arguments: { key = '', value = '' }, options }: Invocation, io: CommandIO): Promise<number> {
  const wanted = String(key);
  const file = fileFor(control, options);
  const known = control.keys().find((one) => isWithin(wanted, one.key) || isWithin(one.key, wanted));
  if (!known) throw unknownKey(control, wanted);
  if (options['project'] && known.from === 'user' && isWithin(wanted, known.key)) throw configurationError(`${wanted} is for you to set, not for a project`, 'leave out --project');
  await control.set(wanted, String(value), file);
  io.say(`set ${wanted} in ${shortPath(file)}`);
  const origin = control.config.origin(wanted);
  const isStronger = origin.layer === 'flags' || origin.layer === 'environment' || (origin.layer === 'project' && !options['project']);
  if (isStronger) warn(io, `${originText(origin)} still decides: it is stronger`);
  return 0;
}

function paths({ projectFile, globalFile }: ConfigControl, { options: { cwd = '.' } }: Invocation, io: CommandIO): number {
  const stateOf = (file: string): string => (existsSync(file) ? 'exists' : 'missing');
  const projectRow = projectFile === undefined ? [`${String(cwd)}/.agent/config.yaml`, 'none'] : [projectFile, stateOf(projectFile)];
  const rows = [['project', ...projectRow], ['global', globalFile, stateOf(globalFile)]];
  // A path is there to be copied: it is not cut to the width of the terminal.
  io.print(table(rows, [{ title: 'LAYER' }, { title: 'FILE' }, { title: 'STATE', style: io.style.dim }], { titleStyle: io.interactive ? io.style.bold : undefined }));
  return 0;
}

async function init(p: PluginContext, control: ConfigControl, { options }: Invocation, io: CommandIO): Promise<number> {
  const file = fileFor(control, options);
  await control.init(file);
  io.say(`wrote ${shortPath(file)}`);
  const written = await control.writeSchema(file, await settingsSchemas(p, options['project'] === true));
  io.say(`wrote ${shortPath(written)}, by which editors complete its keys`);
  return 0;
}

async function schema(p: PluginContext, control: ConfigControl, { options }: Invocation, io: CommandIO): Promise<number> {
  const parts = await settingsSchemas(p, options['project'] === true);
  if (options['write']) io.say(`wrote ${shortPath(await control.writeSchema(fileFor(control, options), parts))}`);
  else if (options['json']) io.json(await control.schema(parts));
  else io.print(JSON.stringify(await control.schema(parts), null, 2));
  return 0;
}

async function unset(control: ConfigControl, { arguments: { key = '' }, options }: Invocation, io: CommandIO): Promise<number> {
  const wanted = String(key);
  const file = fileFor(control, options);
  if (!(await control.unset(wanted, file))) throw await notSet(control, wanted, file);
  io.say(`took ${oneLine(wanted)} out of ${shortPath(file)}`);
  const { config, problems } = await control.inspect();
  const value = config.get(wanted);
  const shown = value === undefined ? 'is not set now' : `is ${oneLine(settingText(maskSecrets(wanted, value)))} now, from ${originText(config.origin(wanted))}`;
  io.say(`${oneLine(wanted)} ${shown}`);
  for (const { error } of problems) warn(io, error.message);
  return 0;
}

/** Where it is set instead, if anywhere. */
async function notSet(control: ConfigControl, key: string, file: string): Promise<OperationalError> {
  const { config, problems } = await control.inspect();
  const other = [...config.explain(key), ...[...config.ignored, ...problems].filter((one) => one.key === key)].find((one) => one.file !== file && (one.file !== undefined || one.variable !== undefined));
  if (other === undefined && config.get(key) === undefined && !isKnown(control, key)) return unknownKey(control, key);
  const place = other === undefined ? undefined : placeText(other);
  const hint = other === undefined ? `agent config explain ${key}` : other.variable === undefined ? `agent config unset ${key}${other.file === control.projectFile ? ' --project' : ''}` : `unset ${other.variable}`;
  return configurationError(`${oneLine(key)} is not set in ${shortPath(file)}${place === undefined ? '' : `; it is in ${place}`}`, hint);
}

function fileFor({ projectFile, globalFile }: ConfigControl, options: Invocation['options']): string {
  if (!options['project']) return globalFile;
  if (projectFile === undefined) throw configurationError('this folder is in no project', 'mkdir .agent makes it one');
  return projectFile;
}

function isUnset({ value, origin }: Pick<ConfigEntry, 'value' | 'origin'>): boolean {
  return value === undefined && origin.layer === 'default';
}

function layout(io: CommandIO): TableLayout {
  return io.interactive ? { width: io.columns, titleStyle: io.style.bold } : {};
}

function warn(io: CommandIO, text: string): void {
  const { yellow } = isTerminal(io) ? io.remarkStyle : io.style;
  io.say(yellow(`⚠ ${oneLine(text)}`));
}
