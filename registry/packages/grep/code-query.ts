/** The arguments that say what code to look for, the same for searching and rewriting. */
import { nearest, OperationalError, z } from 'newt-agent';
import type { CodeQuery } from './engine/protocol.ts';
import { type Language, languageNamed, languageOfFile, languages } from './languages.ts';
import { ownFile } from './own-file.ts';
import type { Place } from './place.ts';

export const patternText = z.string().min(1).max(10_000);

export const codeInput = {
  language: z.string().min(1).optional().describe('such as typescript, python, go; default: by the extension of the file'),
  inside: patternText.optional().describe('pattern of code that a match must lie in'),
  inside_kind: z.string().min(1).max(100).optional().describe('the same by kind of node, such as class_declaration'),
};

export interface CodeInput {
  readonly pattern?: string | undefined;
  readonly kind?: string | undefined;
  readonly language?: string | undefined;
  readonly inside?: string | undefined;
  readonly inside_kind?: string | undefined;
}

/**
 * The language that is asked for, or that of the file.
 *
 * @throws OperationalError where there is none, with those that are known
 */
export function languageFor({ language }: CodeInput, place: Place): Language {
  const known = languages.map(({ names }) => names[0]).join(', ');
  if (language !== undefined) {
    const found = languageNamed(language);
    if (found) return found;
    const near = nearest(language.toLowerCase(), languages.flatMap(({ names }) => names));
    throw new OperationalError(`There is no language "${language}"${near === undefined ? '' : `; did you mean ${near}?`} Known are ${known}.`);
  }
  const found = place.isFile ? languageOfFile(place.path) : undefined;
  if (found) return found;
  throw new OperationalError(place.isFile ? `The language of ${place.path} is not known by its extension. Give language, one of ${known}.` : `A search of a folder needs language, one of ${known}.`);
}

/**
 * @param folder where people keep packages of further languages; undefined for nowhere
 */
export function codeQuery(input: CodeInput, { grammars }: Language, folder: string | undefined, replacement?: string): CodeQuery {
  return {
    kind: 'code',
    grammars,
    // Never the workspace: a repository must not bring native code that a search runs.
    bases: [ownFile, ...(folder === undefined ? [] : [`${folder}/package.json`])],
    ...(input.pattern !== undefined && { pattern: input.pattern }),
    ...(input.kind !== undefined && { node: input.kind }),
    ...(input.inside !== undefined && { inside: input.inside }),
    ...(input.inside_kind !== undefined && { insideNode: input.inside_kind }),
    ...(replacement !== undefined && { replacement }),
  };
}

/** What a failure means to somebody whose language is not installed. */
export function withAdvice(error: OperationalError): OperationalError {
  const missing = error.details['package'];
  if (typeof missing !== 'string') return error;
  return new OperationalError(
    `${error.message} The person can add it: npm install --ignore-scripts --prefix <folder> ${missing}, then agent config set plugins.config.grep.languages_folder <folder>. Until then use grep_text.`,
    error.details,
  );
}
