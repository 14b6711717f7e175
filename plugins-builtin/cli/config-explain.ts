/** `agent config explain`: what every layer says of a key, and why the one that counts does. */
import { type CommandIO, type ConfigControl, type Invocation, maskSecrets, oneLine, settingsBelow, settingText, shortPath, wrap } from 'newt-agent';
import { configEntries, isKnown, isWithin, placeText, unknownKey } from './config-value.ts';

type Layer = 'flags' | 'environment' | 'project' | 'global' | 'default';
type State = 'counts' | 'overridden' | 'ignored' | 'wrong' | 'not set';

interface Said {
  readonly layer: Layer;
  readonly state: State;
  /** As it may be shown. */
  readonly value?: unknown;
  readonly file?: string;
  readonly line?: number;
  readonly variable?: string;
  readonly why?: string;
}

interface Explanation {
  readonly key: string;
  readonly value: unknown;
  readonly description: string | undefined;
  /** Who may set it. */
  readonly from: string | undefined;
  readonly layers: readonly Said[];
}

const order: readonly Layer[] = ['flags', 'environment', 'project', 'global', 'default'];
const names: Readonly<Record<Layer, string>> = { flags: 'flag', environment: 'environment', project: 'project', global: 'global', default: 'default' };
const audience: Readonly<Record<string, string>> = { user: 'only you may set it, not a project', 'trusted-project': 'from a project it counts once that is trusted', any: 'any project may set it' };
const marks: Readonly<Record<State, string>> = { counts: '✓', overridden: '·', ignored: '!', wrong: '✗', 'not set': '·' };
const maxValue = 120;

export async function explain(control: ConfigControl, { arguments: { key }, options }: Invocation, io: CommandIO): Promise<number> {
  const { config, problems } = await control.inspect();
  const written = [...config.ignored, ...problems];
  const wanted = key === undefined ? undefined : String(key);
  const entries = configEntries({ ...control, config });
  const known = control.keys();
  // What a person named, and what does not count, has a place of its own among the keys.
  const strange = written.flatMap((note) => settingsBelow(note.key, note.value)).map((one) => one.key).filter((one) => one !== '' && !entries.some((entry) => entry.key === one));
  const all = [...new Set([...entries.map((entry) => entry.key), ...strange])];
  const chosen = wanted === undefined ? all : all.filter((one) => isWithin(one, wanted) || isWithin(wanted, one));
  if (wanted !== undefined && chosen.length === 0 && !isKnown(control, wanted)) throw unknownKey({ ...control, config }, wanted);

  const about = (one: string): Explanation => {
    const setting = known.find((candidate) => isWithin(one, candidate.key));
    return { key: one, value: maskSecrets(one, config.get(one)), description: setting?.key === one ? setting.description : undefined, from: setting?.from, layers: layersOf(one, { ...control, config }, written, problems) };
  };
  const explained = chosen.map(about).filter(({ layers }) => wanted !== undefined || layers.some(({ layer, state }) => layer !== 'default' && state !== 'not set'));
  if (options['json']) io.json(explained.map((one) => ({ ...one, value: one.value ?? null, description: one.description ?? null, from: one.from ?? null, layers: one.layers.map((said) => ({ ...said, value: said.value ?? null })) })));
  else for (const [index, one] of explained.entries()) print(one, wanted !== undefined, index > 0, io);
  if (explained.length === 0 && !options['json']) io.print('Nothing is set: the defaults count. agent config list shows them.');
  for (const { error } of problems) io.say(io.style.red(`✗ ${oneLine(error.message, 400).replace(/ \(and \d+ more problems?\)$/, '')}`));
  return 0;
}

type Note = ConfigControl['config']['ignored'][number];

function layersOf(key: string, { config, keys, globalFile, projectFile }: ConfigControl, notes: readonly Note[], problems: readonly Note[]): Said[] {
  const counting = config.explain(key).map((one, index): Said => ({ ...one, value: maskSecrets(key, one.value), state: index === 0 ? 'counts' : 'overridden' }));
  const left = notes.flatMap((note): Said[] =>
    settingsBelow(note.key, note.value).filter((one) => one.key === key).map(({ value }) => {
      const layer = note.file === undefined ? 'environment' : note.file === globalFile ? 'global' : 'project';
      const { file, line, variable, why } = note;
      return { layer, state: problems.includes(note) ? 'wrong' : 'ignored', value: masked(key, value, why), ...(file !== undefined && { file }), ...(line !== undefined && { line }), ...(variable !== undefined && { variable }), why };
    }),
  );
  const setting = keys().find((one) => isWithin(key, one.key));
  // What a schema adds to a thing that a person named has no place of its own among the keys.
  const preset = setting?.key === key ? setting.default : counting.length === 0 ? config.get(key) : undefined;
  const said = [...counting, ...left];
  const fallback: Said = { layer: 'default', state: counting.length > 0 ? (preset === undefined ? 'not set' : 'overridden') : preset === undefined ? 'not set' : 'counts', value: preset };
  const variable = `AGENT_${key.split('.').map((step) => step.toUpperCase().replace(/[^A-Z0-9]/g, '_')).join('__')}`;
  const silent: Said[] = [
    { layer: 'flags', state: 'not set' },
    { layer: 'environment', state: 'not set', variable },
    ...(projectFile === undefined ? [] : [{ layer: 'project', state: 'not set', file: projectFile } as const]),
    { layer: 'global', state: 'not set', file: globalFile },
  ];
  const rows = [...said, fallback, ...silent.filter((one) => !said.some(({ layer }) => layer === one.layer))];
  return rows.sort((a, b) => order.indexOf(a.layer) - order.indexOf(b.layer));
}

/** `${VAR}` is the name of a secret, and no secret. A key there is not may be the misspelt name of one. */
function masked(key: string, value: unknown, why: string): unknown {
  if (why.startsWith('no such key') && typeof value !== 'number' && typeof value !== 'boolean') return '********';
  return typeof value === 'string' && /^\$\{\w+\}$/.test(value) ? value : maskSecrets(key, value);
}

function print({ key, value, description, from, layers }: Explanation, isWhole: boolean, isNext: boolean, io: CommandIO): void {
  const { cyan, dim, green, yellow, red } = io.style;
  const columns = io.interactive ? io.columns : Infinity;
  const styles: Readonly<Record<State, (text: string) => string>> = { counts: green, overridden: dim, ignored: yellow, wrong: red, 'not set': dim };
  if (isNext) io.print('');
  io.print(`${cyan(oneLine(key))}${value === undefined ? ' is not set' : ` = ${oneLine(settingText(value), maxValue)}`}`);
  if (isWhole) for (const line of wrap(`  ${[description, from && audience[from]].filter(Boolean).join('; ')}`, columns, 2)) io.print(dim(line));
  for (const said of layers) {
    if (!isWhole && said.state === 'not set') continue;
    const place = said.file !== undefined && said.line === undefined ? shortPath(said.file) : placeText(said);
    const status = said.state === 'counts' ? 'counts' : said.state === 'not set' ? 'not set' : `${said.state}${said.why === undefined ? '' : `: ${said.why}`}`;
    const text = [said.value === undefined ? undefined : oneLine(settingText(said.value), maxValue), place && `${place}`].filter(Boolean).join('  ');
    const lines = wrap(`  ${marks[said.state]} ${names[said.layer].padEnd(11)}  ${text}${text === '' ? '' : '  '}(${oneLine(status, 300)})`, columns, 17);
    for (const line of lines) io.print(line.replace(marks[said.state], styles[said.state]));
  }
}
