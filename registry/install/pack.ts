/** A first-party plugin as a package: packed from the folder it ships in. None of its scripts run. */
import { gunzipSync } from 'node:zlib';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { registryFolder } from '../catalog.ts';
import { refused } from '../report.ts';

/**
 * The files npm would publish, as an archive that is not compressed: compression differs between versions of Node,
 * and the same files must have the same integrity on every machine.
 */
export async function packFirstParty(folder: string): Promise<Buffer> {
  const path = join(registryFolder(), 'packages', folder);
  if (!existsSync(join(path, 'package.json'))) throw refused(`this newt-agent does not have the plugin ${folder}, though its catalog names it`, 'install newt-agent again');
  const [{ default: pacote }, { default: Arborist }] = await Promise.all([import('pacote'), import('@npmcli/arborist')]);
  return gunzipSync(await pacote.tarball(path, { Arborist, ignoreScripts: true } as object));
}
