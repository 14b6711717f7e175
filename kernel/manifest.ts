/** Manifests: the static facts of a plugin in its package.json, checked before any of its code runs. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { KernelError } from './errors.ts';
import type { Manifest } from './lifecycle.ts';
import { nearest } from './near.ts';
import type { PluginStatic } from './plugin.ts';

export const idPattern = /^[a-z][a-z0-9-]{0,31}$/;

/** Built on first use: an agent without plugins reads no manifest. */
let schema: ReturnType<typeof buildSchema> | undefined;

function buildSchema() {
  const capability = z.string().regex(/^(exec|net|fs:write|env:[A-Za-z_][A-Za-z0-9_]*|gate:[a-z]+\.[a-z]+)$/, 'must be exec, net, fs:write, env:NAME or gate:HOOK');

  return z.strictObject({
    id: z.string().regex(idPattern, 'must be lower-case letters, digits and dashes, at most 32, a letter first').optional(),
    version: z.string().optional(),
    engine: z.string().optional(),
    main: z.string().optional(),
    config: z.record(z.string(), z.json()).optional(),
    requires: z.strictObject({ plugins: z.record(z.string(), z.string()).optional(), services: z.array(z.string()).optional() }).optional(),
    activateOn: z.array(z.string()).optional(),
    capabilities: z.array(capability).optional(),
    heal: z.strictObject({ allow: z.array(z.string()).optional(), deny: z.array(z.string()).optional() }).optional(),
  });
}

export interface PackageManifest {
  readonly manifest: Manifest;
  readonly main: string | undefined;
}

/**
 * Reads the manifest of a plugin folder.
 * @returns undefined when the folder has no package.json, or one that says nothing about an agent
 * @throws KernelError `MANIFEST`, naming file, key and fix
 */
export function readManifest(folder: string, fallbackId: string): PackageManifest | undefined {
  const file = join(folder, 'package.json');
  let text: string;
  try {
    if (!statSync(file).isFile()) throw new Error('it is not a file');
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new KernelError('MANIFEST', { file, key: 'file', problem: (error as Error).message }, { cause: error });
  }
  const parsed = parseJson(file, text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new KernelError('MANIFEST', { file, key: 'JSON', problem: 'it is no object' });
  if (!('agent' in parsed)) return undefined;
  const { agent, version, main } = parsed as { agent: unknown; version?: unknown; main?: unknown };
  const checked = (schema ??= buildSchema()).safeParse(agent);
  if (!checked.success) throw invalid(file, checked.error);
  const stated = checked.data;
  return {
    manifest: complete({ ...stated, config: undefined, version: stated.version ?? (typeof version === 'string' ? version : undefined) }, fallbackId),
    main: stated.main ?? (typeof main === 'string' ? main : undefined),
  };
}

/** Fills in what a manifest may leave out. */
export function complete(stated: PluginStatic, fallbackId: string): Manifest {
  return {
    id: stated.id ?? fallbackId,
    version: stated.version ?? '0.0.0',
    engine: stated.engine ?? '*',
    requires: stated.requires ?? {},
    activateOn: stated.activateOn ?? [],
    capabilities: stated.capabilities ?? [],
  };
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new KernelError('MANIFEST', { file, key: 'JSON', problem: (error as Error).message }, { cause: error });
  }
}

function invalid(file: string, error: z.ZodError): KernelError {
  const issue = error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const near = nearest(key, Object.keys(buildSchema().shape));
    return new KernelError('MANIFEST', { file, key: ['agent', ...issue.path, key].join('.'), problem: `unknown key${near ? `; did you mean "${near}"?` : ''}` });
  }
  return new KernelError('MANIFEST', { file, key: ['agent', ...(issue?.path ?? [])].join('.'), problem: issue?.message ?? 'invalid' });
}
