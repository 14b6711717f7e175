/** Before all tests: the command is built, and temporary files get a folder that goes with the run. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Builds `dist/`: the end-to-end tests drive what a person would. */
export function buildOnce(): void {
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, ['build.mjs'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}

export default function setup(): () => void {
  buildOnce();
  const folder = mkdtempSync(join(tmpdir(), 'newt-tests-'));
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
