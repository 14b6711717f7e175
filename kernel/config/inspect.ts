/** The configuration as far as it is right, and everything that is wrong with it: for whoever explains or mends it. */
import type { z } from 'zod';
import { configReader } from './file.ts';
import { type Config, loadConfig } from './load.ts';
import type { ConfigSources, Ignored } from './sources.ts';
import { at, type Path } from './tree.ts';
import { isKernelError, type KernelError } from '../errors.ts';

export interface Inspection {
  readonly config: Config;
  /** What keeps the configuration from being used as it is; an empty key stands for the whole file. */
  readonly problems: readonly (Ignored & { readonly error: KernelError })[];
}

/** Far more than anybody corrects one by one. */
const maxProblems = 100;

/** Reads the layers like `loadConfig`, over and over: what it refuses is noted and left out, until the rest is right. */
export async function inspectConfig<Schema extends z.ZodObject>(sources: ConfigSources<Schema>): Promise<Inspection & { config: Config<z.output<Schema>> }> {
  const problems: (Ignored & { error: KernelError })[] = [];
  let left = sources;
  for (;;) {
    try {
      return { config: await loadConfig(left), problems };
    } catch (error) {
      if (!isKernelError(error)) throw error;
      const { key = '', file, line, where, problem } = error.details;
      const variable = typeof where === 'string' && Object.hasOwn(left.env, where) ? where : undefined;
      if (problems.length === maxProblems || (file === undefined && variable === undefined)) throw error;
      const why = String(problem ?? error.message).replace(/ \(and \d+ more problems?\)$/, '');
      if (variable !== undefined) {
        problems.push({ key: String(key) || variable, variable, value: left.env[variable], why, error });
        left = { ...left, env: { ...left.env, [variable]: undefined } };
        continue;
      }
      const place = String(file);
      const path = isWhole(place, left) ? undefined : writtenPath(place, String(key), left);
      problems.push({ key: path?.path.join('.') ?? '', file: place, ...(typeof line === 'number' && { line }), value: path?.value, why, error });
      left = { ...left, except: [...(left.except ?? []), { file: place, ...(path && { path: path.path }) }] };
    }
  }
}

/** What nobody trusts is left out as a whole. */
function isWhole(file: string, { paths, projectTrusted }: ConfigSources): boolean {
  return file === paths.project && !projectTrusted;
}

/** The longest part of a dotted key that the file has and that is not left out yet. */
function writtenPath(file: string, key: string, { paths, except = [] }: ConfigSources): { path: Path; value: unknown } | undefined {
  try {
    const { tree } = configReader(paths.empty)(file);
    const steps = key.split('.');
    for (let length = steps.length; length > 0; length -= 1) {
      const path = steps.slice(0, length);
      const value = at(tree, path);
      if (value !== undefined && !except.some((one) => one.file === file && one.path?.join('.') === path.join('.'))) return { path, value };
    }
  } catch (error) {
    if (!isKernelError(error)) throw error;
  }
  return undefined;
}
