/** The catalog: first-party plugins that ship with newt-agent and are added by name. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'newt-agent';

const schema = z.object({
  plugins: z.record(z.string(), z.object({ package: z.string(), folder: z.string().regex(/^[a-z][a-z0-9-]*$/), description: z.string(), keywords: z.array(z.string()), capabilities: z.array(z.string()) })),
});

export type Catalog = z.output<typeof schema>;

/** Empty where none ships. */
export function readCatalog(): Catalog {
  const file = join(registryFolder(), 'catalog.json');
  return existsSync(file) ? schema.parse(JSON.parse(readFileSync(file, 'utf8'))) : { plugins: {} };
}

/** `registry` of the checkout, or of the installed package: beside the package.json that is ours. */
export function registryFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, 'registry');
}
