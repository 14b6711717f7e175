/** Changes to a configuration file; its comments and the order of its keys stay. */
import { existsSync } from 'node:fs';
import { isCollection, stringify } from 'yaml';
import type { z } from 'zod';
import { writeAtomic } from '../atomic-write.ts';
import { changing, openConfigFile, parseValue, readConfigText } from './file.ts';
import { noSuchKey, readIssue, show } from './problem.ts';
import { knownKeys, member, type Shape, shapeOf, unknownKeys } from './schema.ts';
import { at, isTree, type Path } from './tree.ts';
import { KernelError } from '../errors.ts';
import { nearest } from '../near.ts';

/**
 * Sets the dotted `key` to the value that `text` stands for. The
 * file is made where missing, and left as it was if the change would add a problem to it.
 *
 * @throws KernelError `ARGUMENT` for what the key or the value is not, and what reading the file throws
 */
export function setConfigValue(schema: z.ZodObject, file: string, key: string, text: string): void {
  changing(file, () => set(schema, file, key, text));
}

function set(schema: z.ZodObject, file: string, key: string, text: string): void {
  const opened = openConfigFile(file, readConfigText(file));
  const { document } = opened;
  const path = key.split('.').map((step, index, steps) => (Array.isArray(at(opened.tree, steps.slice(0, index))) ? Number(step) : step));
  const ancestors = path.map((_, length) => path.slice(0, length)).slice(1);
  // Whoever called said it: no line of the file is to blame.
  const refuse = (where: Path, problem: string, hint = 'agent config list shows every key'): never => {
    throw new KernelError('ARGUMENT', { what: `${where.join('.')}: ${problem}`, hint });
  };
  const shape = shapeOf(schema);
  const found = path.reduce<Shape>((inner, step, index) => member(inner, step) ?? refuse(path.slice(0, index + 1), noSuchKey(wholeKey(path.slice(0, index), nearest(String(step), knownKeys(inner))))), shape);
  const value = parseValue(text, found);
  const before = problems(schema, shape, opened.tree);
  for (const ancestor of ancestors) if (document.hasIn(ancestor) && !isCollection(document.getIn(ancestor, true))) document.deleteIn(ancestor);
  document.setIn(path, typeof value === 'object' ? document.createNode(value) : value);
  const added = problems(schema, shape, document.toJS()).find((problem) => !before.some((old) => old.text === problem.text && old.path.join() === problem.path.join()));
  if (added) {
    const isOwn = added.path.join('.') === path.join('.');
    refuse(added.path, isOwn ? `${added.text}, found ${show(value, path)}` : `${added.text}, which ${path.join('.')} needs beside it`, isOwn ? `it stays as it was; for its value and where that comes from: agent config explain ${key}` : `set it first: agent config set ${added.path.join('.')} <value>`);
  }
  writeAtomic(file, document.toString({ lineWidth: 0 }));
}

/**
 * @param head lines to begin with
 * @throws KernelError `ARGUMENT` if the file exists
 */
export function initConfig(schema: z.ZodObject, file: string, head: readonly string[] = []): void {
  if (existsSync(file)) throw new KernelError('ARGUMENT', { what: `${file} exists`, hint: 'agent config set KEY VALUE changes it' });
  const lines = [...head, '# Every key with its default, or an example. Take the "# " off a line, and off the lines it belongs to, to change it.'];
  const list = (shape: Shape, indent: string, preset: unknown): void => {
    for (const [key, inner] of Object.entries(shape.properties ?? {})) {
      const value = at(preset, [key]) ?? inner.default;
      if (indent === '') lines.push('');
      const [example] = inner.examples ?? [];
      const shown = isTree(example) ? undefined : (example ?? value);
      const written = inner.properties || shown === undefined ? '' : ` ${JSON.stringify(shown)}`;
      lines.push(`# ${indent}${key}:${written}${inner.description ? `  # ${inner.description}` : ''}`);
      if (isTree(example)) for (const [name, one] of Object.entries(example)) lines.push(`# ${indent}  ${name}: ${stringify(one, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd()}`);
      list(inner, `${indent}  `, value);
    }
  };
  list(shapeOf(schema), '', undefined);
  writeAtomic(file, `${lines.join('\n')}\n`);
}

function wholeKey(above: Path, name: string | undefined): string | undefined {
  return name === undefined ? undefined : [...above, name].join('.');
}

// What holds a ${VAR} is checked when it is read.
function problems(schema: z.ZodObject, shape: Shape, tree: unknown): { path: Path; text: string }[] {
  const issues = schema.safeParse(tree).error?.issues.map(readIssue) ?? [];
  const wrong = issues.filter(({ path }) => !String(at(tree, path)).includes('${')).map(({ path, expected }) => ({ path, text: expected }));
  return [...unknownKeys(shape, tree).map(({ path, near }) => ({ path, text: noSuchKey(wholeKey(path.slice(0, -1), near())) })), ...wrong];
}
