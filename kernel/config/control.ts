/** The configuration as loaded, and the way to change its files; the service `kernel.config`. */
import { defineService } from '../service.ts';
import type { Inspection } from './inspect.ts';
import type { Config } from './load.ts';
import type { ConfigKey } from './schema.ts';

export interface ConfigControl {
  readonly config: Config;
  keys(): ConfigKey[];
  readonly globalFile: string;
  /** The project's file, existing or not; undefined outside of a project. */
  readonly projectFile: string | undefined;
  /** @throws KernelError that names what is wrong and the nearest key */
  set(key: string, value: string, file: string): Promise<void>;
  /** Takes a key out of a file; false where it is not set there. @throws KernelError for a file that cannot be read */
  unset(key: string, file: string): Promise<boolean>;
  /** Reads everything again, the wrong parts left out and told. */
  inspect(): Promise<Inspection>;
  /** The JSON Schema of a configuration file, for editors. @param plugins schemas of plugins' settings, by id */
  schema(plugins?: Readonly<Record<string, object>>): Promise<object>;
  /** Writes that schema to the place where the first line of `init` looks for it, and answers the place. */
  writeSchema(file: string, plugins?: Readonly<Record<string, object>>): Promise<string>;
  /** Writes a commented starter file. @throws KernelError when there is one already */
  init(file: string): Promise<void>;
}

export const configControl = defineService<ConfigControl>('kernel.config');
