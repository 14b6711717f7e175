/** The tools of this plugin over real processes, without an agent. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Tool } from 'newt-agent';
import { Programs } from '../../../kernel/exec.ts';
import { createEngine, type Engine } from './engine-process.ts';
import { grepAst } from './grep-ast.ts';
import { grepRewrite } from './grep-rewrite.ts';
import { grepText } from './grep-text.ts';

/** What `p.exec` is, with the environment of the tests and without a guardian. */
export function startPrograms(): Programs {
  return new Programs(() => process.env, () => Promise.reject(new Error('there is no guardian here')));
}

export function engineFor(programs: Programs, seconds = 20): Engine {
  return createEngine({ exec: (file, args = [], options = {}) => programs.run(file, args, options) }, seconds);
}

export function toolsFor(programs: Programs, seconds?: number, folder?: string): Record<'text' | 'ast' | 'rewrite', Tool> {
  const engine = engineFor(programs, seconds);
  return { text: grepText(engine), ast: grepAst(engine, folder), rewrite: grepRewrite(engine, engine, folder) };
}

/** Writes `files`, by path relative to `root`, with their folders. */
export async function plant(root: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}
