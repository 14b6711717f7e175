/** What is wrong with a configuration, and where to correct it. */
import type { z } from 'zod';
import { at, type Path, type Tree } from './tree.ts';
import { shownAddress } from '../address.ts';
import { KernelError } from '../errors.ts';
import { isSecretName } from '../secret-name.ts';

/** Where a value comes from. */
export interface Origin {
  readonly layer: 'flags' | 'environment' | 'project' | 'global' | 'default';
  readonly file?: string;
  readonly line?: number;
  readonly variable?: string;
}

/** Why a project's setting is ignored that would count with trust. */
export const noTrust = 'the project is not trusted';

/** @param near the key that was probably meant */
export function noSuchKey(near: string | undefined): string {
  return `no such key${near === undefined ? '' : `; did you mean "${near}"?`}`;
}

const listHint = 'agent config list shows every key';

export function problemAt(origin: Origin, path: Path, problem: string, { others = 0, hint = listHint } = {}): KernelError {
  const where = origin.file ? `${origin.file}:${origin.line}` : (origin.variable ?? (origin.layer === 'flags' ? 'command line' : 'defaults'));
  const more = others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'problem' : 'problems'})`;
  return new KernelError('CONFIG_INVALID', { where, key: path.join('.'), problem: problem + more, hint, file: origin.file, line: origin.line });
}

/** The first of zod's issues with `tree`. A missing key is nowhere: the nearest that is written down is blamed. */
export function invalidAt(issues: readonly z.core.$ZodIssue[], tree: Tree, originOf: (path: Path) => Origin | undefined): KernelError {
  const { path, expected } = issues[0] ? readIssue(issues[0]) : { path: [], expected: 'not valid' };
  let origin: Origin | undefined;
  for (let length = path.length; length > 0; length--) origin ??= originOf(path.slice(0, length));
  return problemAt(origin ?? { layer: 'default' }, path, `${expected}, found ${show(at(tree, path), path)}`, { others: issues.length - 1 });
}

/** What an issue of zod says, and about which key; of a union, what the alternatives say that fit furthest. */
export function readIssue(issue: z.core.$ZodIssue): { path: Path; expected: string } {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  const inner = issue.code === 'invalid_union' ? issue.errors.flat().map(readIssue) : [];
  const depth = Math.max(...inner.map((one) => one.path.length));
  const fitting = inner.filter((one) => one.path.length === depth);
  if (fitting[0]) return { path: [...path, ...fitting[0].path], expected: [...new Set(fitting.map((one) => one.expected))].join(' or ') };
  return { path, expected: inWords(issue.message) };
}

const kinds: Readonly<Record<string, string>> = { number: 'a number', int: 'a whole number', string: 'a text', boolean: 'true or false', array: 'a list', object: 'keys and values', record: 'keys and values' };

/** What zod says, as a person would. */
function inWords(message: string): string {
  const text = message.replace(/^(?:Invalid (?:input|option)|Too (?:small|big)): /, '').replace(/, received .*$/, '');
  const plain = text
    .replace(/^expected (\w+)$/, (whole, kind: string) => (kinds[kind] ? `expected ${kinds[kind]}` : whole))
    .replace(/^expected (?:number|int) to be ([<>]=?) ?(.*)$/, (_, sign: string, limit: string) => `expected a number ${{ '>': 'above', '>=': 'of at least', '<': 'below', '<=': 'of at most' }[sign]} ${limit}`)
    .replace(/^expected string to have >=1 characters$/, 'must not be empty');
  return plain.charAt(0).toLowerCase() + plain.slice(1);
}

/** A value as a message quotes it; never a secret. */
export function show(value: unknown, path: Path): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'keys and values';
  if (isSecretName(String(path.at(-1)))) return `a ${typeof value}`;
  const text = JSON.stringify(typeof value === 'string' && value.includes('://') ? shownAddress(value) : value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
