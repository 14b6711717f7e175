/** Configuration values, and where each comes from. */
import { type ConfigControl, settingsBelow, type Setting, shortPath } from 'newt-agent';

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
export function originText({ layer, file, line, variable }: Origin): string {
  if (file !== undefined) return `${shortPath(file)}${line === undefined ? '' : `:${line}`}`;
  return variable === undefined ? (layer === 'flags' ? 'command line' : layer) : `$${variable}`;
}
