/** The schema of the configuration, read as JSON Schema: which keys there are, and who may set them. */
import { z } from 'zod';
import { isTree, type Path } from './tree.ts';
import { KernelError } from '../errors.ts';
import { nearest } from '../near.ts';

/** Who may set a key: only the person, also a project they trust, or any project. Unmarked keys are `user`. */
export type TrustLevel = 'user' | 'trusted-project' | 'any';

/** The part of JSON Schema that is looked at. `from` is what `.meta({ from })` says. */
export interface Shape {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: boolean | Shape;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
  readonly default?: unknown;
  /** What a starter file shows in place of the default. */
  readonly examples?: readonly unknown[];
  readonly description?: string;
  readonly from?: TrustLevel;
}

export interface ConfigKey {
  readonly key: string;
  readonly default: unknown;
  readonly description: string | undefined;
  readonly from: TrustLevel;
}

const plugins = z.object({
  disabled: z.array(z.string()).default([]).describe('Plugins that are not loaded').meta({ from: 'trusted-project' }),
  replaces: z.record(z.string(), z.string()).default({}).describe('Built-in plugin to the id of the plugin that takes its place'),
  config: z.record(z.string(), z.unknown()).default({}).describe('Each plugin\'s own settings, by its id').meta({ from: 'trusted-project' }),
});

/** The whole schema, made of the parts of the built-in plugins (by top-level key) and the kernel's own `plugins`. */
export function composeConfig<Parts extends z.ZodRawShape>(parts: Parts): z.ZodObject<Parts & { plugins: z.ZodPrefault<typeof plugins> }> {
  if ('plugins' in parts) throw new KernelError('ARGUMENT', { what: 'the key plugins is the kernel\'s own', hint: 'name the part otherwise' });
  return z.object({ ...parts, plugins: plugins.prefault({}) });
}

/** Of an object each member is read when it is looked at: a start looks at one or two, and all of them take six milliseconds. */
export function shapeOf(schema: z.ZodType): Shape {
  if (!(schema instanceof z.ZodObject) || schema.def.catchall) return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;
  const properties: Record<string, Shape> = {};
  for (const [key, inner] of Object.entries(schema.shape as Readonly<Record<string, z.ZodType>>)) {
    let shape: Shape | undefined;
    Object.defineProperty(properties, key, { get: () => (shape ??= shapeOf(inner)), enumerable: true });
  }
  return { type: 'object', properties, ...(schema.description !== undefined && { description: schema.description }), ...(schema.meta() as object) };
}

/** The shape of a member, `{}` where anything goes, or undefined where there is no such key. */
export function member(shape: Shape, key: string | number): Shape | undefined {
  if (key === '__proto__' || key === 'constructor' || key === 'prototype') return undefined;
  for (const branch of branches(shape)) {
    if (branch.properties && Object.hasOwn(branch.properties, key)) return branch.properties[key];
    if (typeof branch.additionalProperties === 'object') return branch.additionalProperties;
    if (typeof key === 'number' && branch.items) return branch.items;
    if (isAnything(branch)) return {};
  }
  return typeof key === 'number' ? {} : undefined;
}

/** Every key of `value` the shape does not have, with the nearest that it has there. */
export function unknownKeys(shape: Shape, value: unknown, path: Path = []): { path: Path; near: () => string | undefined }[] {
  if (typeof value !== 'object' || value === null || !admits(shape, value)) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) => {
    const found = member(shape, key);
    return found ? unknownKeys(found, inner, [...path, key]) : [{ path: [...path, key], near: () => nearest(String(key), knownKeys(shape)) }];
  });
}

/** Every leaf key as `config list` shows it, by its dotted name. */
export function configKeys(schema: z.ZodType): ConfigKey[] {
  const list = (shape: Shape, path: string[], from: TrustLevel, preset: unknown): ConfigKey[] => {
    const value = preset ?? shape.default;
    if (!shape.properties) return [{ key: path.join('.'), default: value, description: shape.description, from }];
    return Object.entries(shape.properties).flatMap(([key, inner]) => list(inner, [...path, key], inner.from ?? from, isTree(value) ? value[key] : undefined));
  };
  return list(shapeOf(schema), [], 'user', undefined);
}

export function knownKeys(shape: Shape): string[] {
  return branches(shape).flatMap((branch) => Object.keys(branch.properties ?? {}));
}

/** Whether a value of this JSON type has a place in the shape; its content is not looked at. */
export function admits(shape: Shape, value: unknown): boolean {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return branches(shape).some((branch) => isAnything(branch) || [branch.type].flat().some((one) => (one === 'integer' ? 'number' : one) === type));
}

/** Whether a key below says who may set it. */
export function marksMembers(shape: Shape): boolean {
  return branches(shape).some((branch) => Object.values(branch.properties ?? {}).some((inner) => inner.from !== undefined || marksMembers(inner)));
}

function branches(shape: Shape): Shape[] {
  return [shape, ...[...(shape.anyOf ?? []), ...(shape.oneOf ?? []), ...(shape.allOf ?? [])].flatMap(branches)];
}

function isAnything(shape: Shape): boolean {
  return !shape.type && !shape.anyOf && !shape.oneOf && !shape.allOf;
}
