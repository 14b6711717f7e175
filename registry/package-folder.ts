/** Where the running agent's own package lies, from its sources as from its bundle. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failed } from './report.ts';

/** @throws OperationalError where the agent was taken out of its package */
export function packageFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (nameIn(folder) === 'newt-agent') return folder;
    if (folder === dirname(folder)) throw failed('the package newt-agent cannot be found: the agent runs from somewhere else', 'run it from its package');
  }
}

function nameIn(folder: string): unknown {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown }).name;
  } catch {
    return undefined; // there is none here
  }
}
