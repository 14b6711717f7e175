/** The catalog: first-party plugins that ship with newt-agent and are added by name. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'newt-agent';
import { registryFolder } from './install/pack.ts';

const schema = z.object({
  plugins: z.record(z.string(), z.object({ package: z.string(), folder: z.string().regex(/^[a-z][a-z0-9-]*$/), description: z.string(), keywords: z.array(z.string()), capabilities: z.array(z.string()) })),
});

export type Catalog = z.output<typeof schema>;

/** Empty where none ships. */
export function readCatalog(): Catalog {
  const file = join(registryFolder(), 'catalog.json');
  return existsSync(file) ? schema.parse(JSON.parse(readFileSync(file, 'utf8'))) : { plugins: {} };
}
