/**
 * What there is to complete. It goes into the script as it is now, so that a shell asks the agent for nothing but the ids
 * of plugins, which it reads from folders: no code of a plugin, trusted or not, runs while somebody types.
 */
import { oneLine, type Argument, type Option } from 'newt-agent';
import type { CommandEntry } from '../program.ts';
import { optionsOf } from '../program.ts';

export interface Word {
  readonly text: string;
  readonly description: string;
}

/** What completes a value: words, or what only the shell or the agent knows at the time. */
export type Source = { readonly words: readonly string[] } | 'plugins' | 'files' | 'folders' | undefined;

export interface CompletionCommand {
  /** Words joined by a blank; empty for the command itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly (Word & { readonly value: { readonly source: Source } | undefined })[];
  readonly arguments: readonly { readonly source: Source; readonly variadic: boolean }[];
}

export type CompletionTable = readonly CompletionCommand[];

const maxDescription = 80;
/** Whatever a plugin writes there, nothing else gets into a script as a word. */
const plainWord = /^[\w.:/@+-]+$/;

export function completionTable(commands: ReadonlyMap<string, CommandEntry>, keys: readonly string[], hooks: readonly string[]): CompletionTable {
  const sourceOf = ({ values }: Pick<Argument, 'values'>): Source => {
    if (values === 'config-keys') return { words: keys.filter((key) => plainWord.test(key)) };
    if (values === 'hooks') return { words: hooks.filter((hook) => plainWord.test(hook)) };
    return typeof values === 'object' ? { words: values.filter((value) => plainWord.test(value)) } : values;
  };
  const paths = new Set(['', ...[...commands.keys()].flatMap((path) => path.split(' ').map((_, index, words) => words.slice(0, index + 1).join(' ')))]);
  const help = { text: 'help', description: 'Show help for a command' };
  return [...paths].map((path): CompletionCommand => {
    const entry = commands.get(path);
    const below = [...paths].filter((one) => one !== '' && one.split(' ').slice(0, -1).join(' ') === path);
    const inner = below.map((one) => ({ text: one.split(' ').at(-1) ?? one, description: oneLine(commands.get(one)?.description ?? '', maxDescription) }));
    return {
      path,
      commands: path === '' ? [...inner, help] : inner,
      options: [...(entry ? optionsOf(path, entry) : []).flatMap((option) => optionWords(option, sourceOf(option))), ...standing(path)],
      arguments: (entry?.arguments ?? []).map((argument) => ({ source: sourceOf(argument), variadic: argument.variadic ?? false })),
    };
  });
}

function standing(path: string): CompletionCommand['options'] {
  const help = [{ text: '-h', description: 'Show help', value: undefined }, { text: '--help', description: 'Show help', value: undefined }];
  return path === '' ? [...help, { text: '--version', description: 'Show the version', value: undefined }, { text: '--safe-mode', description: 'Run with built-in plugins only', value: undefined }] : help;
}

function optionWords({ flags, description }: Option, source: Source): CompletionCommand['options'] {
  const value = /[<[]/.test(flags) ? { source } : undefined;
  return (flags.match(/(?<=^|[ ,])--?[A-Za-z0-9][\w-]*/g) ?? []).map((text) => ({ text, description: oneLine(description, maxDescription), value }));
}
