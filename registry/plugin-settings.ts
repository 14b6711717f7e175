/** The settings of a plugin: which keys it has, what they are for, and what they are now. Secrets are masked. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigControl, maskSecrets, oneLine, type PluginInfo, settingText, z } from 'newt-agent';

export interface PluginSetting {
  /** Dotted, as `agent config set` takes it. */
  readonly key: string;
  readonly description: string | undefined;
  readonly default: unknown;
  /** Undefined where the default counts, or nothing. */
  readonly value: unknown;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
  readonly default?: unknown;
}

const maxValue = 200;
const deepest = 4;

/** What its code or its package.json says it can be set to; none where neither does. */
export function pluginSettings(plugin: PluginInfo, control: ConfigControl): PluginSetting[] {
  // A built-in owns top-level keys, and the configuration knows them.
  const prefix = plugin.tier === 'builtin' ? '' : `plugins.config.${plugin.id}.`;
  if (plugin.tier === 'builtin' && plugin.config === undefined) return control.keys().filter(({ key }) => key === plugin.id || key.startsWith(`${plugin.id}.`)).map(({ key, description, default: preset }) => settingOf(key, description, preset, control));
  const schema = told(plugin) ?? (plugin.tier === 'builtin' ? undefined : stated(plugin));
  return schema === undefined ? [] : leaves(schema, '', undefined).map(({ key, description, preset }) => settingOf(prefix + key, description, preset, control));
}

function settingOf(key: string, description: string | undefined, preset: unknown, { config }: ConfigControl): PluginSetting {
  const isSet = config.origin(key).layer !== 'default';
  return { key, description, default: maskSecrets(key, preset), value: isSet ? maskSecrets(key, config.get(key)) : undefined };
}

/** `key = value (default …): what it is for`, on one line. */
export function settingLine({ key, description, default: preset, value }: PluginSetting): string {
  const text = (one: unknown): string => oneLine(settingText(one), maxValue);
  const shown = value !== undefined ? ` = ${text(value)}` : preset === undefined ? ' is not set' : ` = ${text(preset)} (default)`;
  return `${oneLine(key)}${shown}${description === undefined ? '' : `: ${oneLine(description, maxValue)}`}`;
}

function leaves(schema: Schema, above: string, preset: unknown, depth = 0): { key: string; description: string | undefined; preset: unknown }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const key = above === '' ? name : `${above}.${name}`;
    const own = inner.default ?? (typeof preset === 'object' && preset !== null ? (preset as Readonly<Record<string, unknown>>)[name] : undefined);
    if (inner.properties && depth < deepest) return leaves(inner, key, own, depth + 1);
    return [{ key, description: typeof inner.description === 'string' ? inner.description : undefined, preset: own }];
  });
}

function told({ config }: PluginInfo): Schema | undefined {
  if (config === undefined) return undefined;
  try {
    return z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' }) as Schema;
  } catch {
    return undefined; // A schema that JSON Schema has no words for, or of another version of zod.
  }
}

function stated({ path }: PluginInfo): Schema | undefined {
  try {
    const read = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { agent?: { config?: unknown } } | null;
    const config = read?.agent?.config;
    return typeof config === 'object' && config !== null ? (config as Schema) : undefined;
  } catch {
    return undefined; // One module without a manifest, or one that is damaged, which its state says.
  }
}
