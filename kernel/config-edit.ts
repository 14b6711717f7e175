/** Changes to a configuration file; its comments and the order of its keys stay. */
import { existsSync, readFileSync } from 'node:fs';
import type { z } from 'zod';
import { writeAtomic } from './atomic-write.ts';
import { at, problemAt, readIssue } from './config.ts';
import { openConfigFile, parseValue } from './config-file.ts';
import { type Path, member, type Shape, shapeOf, unknownKeys } from './config-schema.ts';
import { KernelError } from './errors.ts';

/**
 * Sets the dotted `key` to the value that `text` stands for, or removes it where `text` is undefined. The
 * file is made where missing, and left as it was if the change would add a problem to it.
 *
 * @throws KernelError `CONFIG_INVALID`, and what reading the file throws
 */
export function setConfigValue(schema: z.ZodObject, file: string, key: string, text: string | undefined): void {
  const opened = openConfigFile(file, existsSync(file) ? readFileSync(file, 'utf8') : '');
  const { document } = opened;
  const path = key.split('.').map((step, index, steps) => (Array.isArray(at(opened.tree, steps.slice(0, index))) ? Number(step) : step));
  if (text === undefined) {
    if (!document.hasIn(path)) return;
    document.deleteIn(path);
  } else {
    const shape = shapeOf(schema);
    const value = parseValue(text, path.reduce<Shape>((inner, step) => member(inner, step) ?? {}, shape));
    const before = problems(schema, shape, opened.tree);
    // A file of comments only: they are a heading, not a footer.
    if (document.contents === null) [document.commentBefore, document.comment] = [document.comment, null];
    path.forEach((_, length) => document.getIn(path.slice(0, length)) === null && document.contents !== null && document.deleteIn(path.slice(0, length)));
    document.setIn(path, typeof value === 'object' ? document.createNode(value) : value);
    const added = problems(schema, shape, document.toJS()).find((problem) => !before.some((old) => old.text === problem.text && old.path.join() === problem.path.join()));
    if (added) throw problemAt({ layer: 'global', file, line: opened.line(path) }, added.path, added.text);
  }
  writeAtomic(file, document.toString({ lineWidth: 0 }));
}

/** @throws KernelError `ARGUMENT` if the file exists */
export function initConfig(schema: z.ZodObject, file: string): void {
  if (existsSync(file)) throw new KernelError('ARGUMENT', { what: `${file} exists`, hint: 'agent config set KEY VALUE changes it' });
  const lines = ['# Every key with its default. Take the "# " off a line, and off the lines it belongs to, to change it.'];
  const list = (shape: Shape, indent: string, preset: unknown): void => {
    for (const [key, inner] of Object.entries(shape.properties ?? {})) {
      const value = at(preset, [key]) ?? inner.default;
      if (indent === '') lines.push('');
      const written = inner.properties || value === undefined ? '' : ` ${JSON.stringify(value)}`;
      lines.push(`# ${indent}${key}:${written}${inner.description ? `  # ${inner.description}` : ''}`);
      list(inner, `${indent}  `, value);
    }
  };
  list(shapeOf(schema), '', undefined);
  writeAtomic(file, `${lines.join('\n')}\n`);
}

// What holds a ${VAR} is checked when it is read.
function problems(schema: z.ZodObject, shape: Shape, tree: unknown): { path: Path; text: string }[] {
  const issues = schema.safeParse(tree).error?.issues.map(readIssue) ?? [];
  const wrong = issues.filter(({ path }) => !String(at(tree, path)).includes('${')).map(({ path, expected }) => ({ path, text: expected }));
  return [...unknownKeys(shape, tree).map(({ path, near }) => ({ path, text: `no such key${near}` })), ...wrong];
}
