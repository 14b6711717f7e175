/** The composed schema as editors read it: JSON Schema draft 7, which every YAML language server knows. */
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeAtomic } from '../kernel/atomic-write.ts';
import { isTree, type Tree } from '../kernel/config/tree.ts';

/** Beside the configuration file: its first line refers to it there. */
const schemaName = 'config.schema.json';
/** The first line of a configuration file: relative to the file, so that it holds in every clone of a project. */
export const schemaLine = `# yaml-language-server: $schema=./${schemaName}`;
const reference = { type: 'string', pattern: '\\$\\{[A-Za-z_]' };
const audience: Readonly<Record<string, string>> = { user: 'Only you may set it, not a project', 'trusted-project': 'From a project it counts once the project is trusted', any: 'Any project may set it' };

/** @param plugins JSON Schemas of the settings of plugins, by id */
export function editorSchema(schema: z.ZodObject, plugins: Readonly<Record<string, object>> = {}): Tree {
  const whole = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-7' }) as Tree;
  const { $schema, ...rest } = strict(whole, 'user') as Tree;
  const settings = ((rest['properties'] as Tree)['plugins'] as Tree)['properties'] as Tree;
  const below = '#/properties/plugins/properties/config/properties/';
  settings['config'] = { ...(settings['config'] as Tree), properties: Object.fromEntries(Object.entries(plugins).map(([id, part]) => [id, rebased(part, `${below}${id}`)])) };
  return { $schema, title: 'Configuration of newt-agent', ...rest };
}

export function writeSchema(schema: z.ZodObject, configFile: string, plugins?: Readonly<Record<string, object>>): string {
  const file = join(dirname(configFile), schemaName);
  writeAtomic(file, `${JSON.stringify(editorSchema(schema, plugins), null, 2)}\n`);
  return file;
}

/** What is not known is refused, a `${VARIABLE}` may stand for any plain value, and the description says who may set it. */
function strict(node: unknown, from: string): unknown {
  if (Array.isArray(node)) return node.map((item) => strict(item, from));
  if (!isTree(node)) return node;
  const { from: own, description, default: preset, examples, ...rest } = node;
  const level = typeof own === 'string' ? own : from;
  const inner = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, isTree(value) && name === 'properties' ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, strict(one, level)])) : ['enum', 'const', 'required'].includes(name) ? value : strict(value, level)]));
  const closed = { ...inner, ...(isTree(rest['properties']) && rest['additionalProperties'] === undefined && { additionalProperties: false }) };
  const isLimited = ['number', 'integer', 'boolean', 'string'].includes(String(rest['type'])) && Object.keys(rest).some((name) => name !== 'type' || rest['type'] !== 'string');
  const said = own === undefined && description === undefined ? undefined : [description, audience[level]].filter(Boolean).join('. ');
  return { ...(said !== undefined && { description: said }), ...(preset !== undefined && { default: preset }), ...(examples !== undefined && { examples }), ...(isLimited ? { anyOf: [closed, reference] } : closed) };
}

/** A plugin's schema at its place in the whole: what it refers to in itself lies there; further files are not fetched. */
function rebased(node: unknown, place: string): unknown {
  if (Array.isArray(node)) return node.map((item) => rebased(item, place));
  if (!isTree(node)) return node;
  return Object.fromEntries(
    Object.entries(node).flatMap(([name, value]): [string, unknown][] => {
      if (name === '$ref' && typeof value === 'string') return value.startsWith('#') ? [[name, place + value.slice(1)]] : [];
      return (name === '$schema' || name === '$id') && typeof value === 'string' ? [] : [[name, rebased(value, place)]];
    }),
  );
}
