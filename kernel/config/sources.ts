/** Where the configuration comes from, and what of it does not count. */
import type { z } from 'zod';
import type { Path } from './tree.ts';

export interface ConfigSources<Schema extends z.ZodObject = z.ZodObject> {
  /** Made by `composeConfig`. */
  readonly schema: Schema;
  /** The two files, and a folder of ours that is empty; it is made where missing. */
  readonly paths: { readonly global: string; readonly project?: string; readonly empty: string };
  readonly projectTrusted: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** By dotted key; text is read as a value of that key. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Variables that look like keys and are none, beside `AGENT_HOME`. */
  readonly reserved?: readonly string[];
  /** What is to be taken as not written down: keys of a file, or a whole one. */
  readonly except?: readonly { readonly file: string; readonly path?: Path }[];
}

/** A key, or a variable, that was written down and does not count. */
export interface Ignored {
  readonly key: string;
  readonly file?: string;
  readonly line?: number;
  readonly variable?: string;
  /** As it is written down; it may be secret. */
  readonly value?: unknown;
  readonly why: string;
}
