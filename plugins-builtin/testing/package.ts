/** The package this is part of, from its sources as from its bundle. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const { packageFolder, packageVersion } = find();

function find(): { packageFolder: string; packageVersion: string } {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown; version?: unknown };
      if (name === 'newt-agent') return { packageFolder: folder, packageVersion: String(version) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || folder === dirname(folder)) throw error;
    }
  }
}
