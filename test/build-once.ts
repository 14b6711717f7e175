/** Builds the command once before the tests: the end-to-end tests drive what a person would. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export default function buildOnce(): void {
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, ['build.mjs'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}
