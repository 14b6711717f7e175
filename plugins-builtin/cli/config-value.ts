/** Configuration values, and where each comes from. */
import { closest, type ConfigControl, configurationError, didYouMean, nearest, oneLine, type OperationalError, settingsBelow, type Setting, shortPath } from 'newt-agent';

export type Origin = ReturnType<ConfigControl['config']['origin']>;

/** `value` is undefined where the key is not set and has no default. */
export interface ConfigEntry extends Setting {
  readonly origin: Origin;
}

/** Every leaf of the configuration: the keys there are, and below them what a person named. */
export function configEntries({ config, keys }: ConfigControl): ConfigEntry[] {
  return keys().flatMap(({ key }) => settingsBelow(key, config.get(key)).map((leaf) => ({ ...leaf, origin: config.origin(leaf.key) })));
}

/** Where a value comes from: `~/.config/agent/config.yaml:3`, `$AGENT_MODEL`, `default`. */
export function originText(origin: Origin): string {
  return placeText(origin) ?? (origin.layer === 'flags' ? 'command line' : origin.layer);
}

/** The file and line, or the variable. */
export function placeText({ file, line, variable }: Pick<Origin, 'file' | 'line' | 'variable'>): string | undefined {
  if (file !== undefined) return `${shortPath(file)}${line === undefined ? '' : `:${line}`}`;
  return variable === undefined ? undefined : `$${variable}`;
}

export function isWithin(key: string, outer: string): boolean {
  return key === outer || key.startsWith(`${outer}.`);
}

export function isKnown(control: ConfigControl, key: string): boolean {
  return control.keys().some((one) => one.key === key);
}

/** The error for a key there is not, with the one that was probably meant. */
export function unknownKey(control: ConfigControl, key: string): OperationalError {
  const keys = configEntries(control).map((entry) => entry.key);
  // People leave out the front, and misspell the rest.
  const last = nearest(lastOf(key), keys.map(lastOf));
  const near = closest(key, keys, 1)[0] ?? keys.find((one) => lastOf(one) === last);
  return configurationError(`${oneLine(key)}: no such key${near === undefined ? '' : didYouMean(near, [near])}`, 'agent config list shows every key');
}

function lastOf(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}
