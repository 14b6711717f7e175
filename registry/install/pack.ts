/** A first-party plugin as a package: packed from the folder it ships in. None of its scripts run. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { refused } from '../report.ts';

/**
 * The files npm would publish, as an archive that is not compressed: compression differs between versions of Node,
 * and the same files must have the same integrity on every machine.
 */
export async function packFirstParty(folder: string, packages = join(registryFolder(), 'packages')): Promise<Buffer> {
  const path = join(packages, folder);
  if (!existsSync(join(path, 'package.json'))) throw refused(`this newt-agent does not have the plugin ${folder}, though its catalog names it`, 'install newt-agent again');
  const [{ default: pacote }, { default: Arborist }] = await Promise.all([import('pacote'), import('@npmcli/arborist')]);
  return gunzipSync(await pacote.tarball(path, { Arborist, ignoreScripts: true } as object));
}

/** `registry` of the checkout, or of the installed package: beside the package.json that is ours. */
export function registryFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, 'registry');
}
