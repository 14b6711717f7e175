/** What was downloaded: a content-addressed cache of our own, that holds what its digest says or nothing. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { HomePaths } from '../../kernel/paths.ts';
import { diskProblem } from '../report.ts';

export interface DownloadCache {
  /** The bytes with this integrity; undefined where they are not there, or not what they were. */
  tarball(integrity: string): Promise<Buffer | undefined>;
  /** @throws OperationalError when the disk does not take it */
  keepTarball(integrity: string, bytes: Buffer): Promise<void>;
  text(key: string): Promise<string | undefined>;
  /** A cache that cannot be written is no reason to fail. */
  keepText(key: string, bytes: Buffer): Promise<void>;
}

/** The sha512 integrity of bytes, as lock files write it. */
export function integrityOf(bytes: Uint8Array): string {
  return `sha512-${hash('sha512', bytes, 'base64')}`;
}

/** Opens the cache in `<cache>/npm`; the library is loaded with the first look into it. */
export function openCache({ cache }: HomePaths): DownloadCache {
  const folder = join(cache, 'npm');
  const library = () => import('cacache').then((module) => module.default);
  return {
    async tarball(integrity) {
      const cacache = await library();
      try {
        return await cacache.get.byDigest(folder, integrity);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EINTEGRITY') await cacache.rm.content(folder, integrity);
        return undefined;
      }
    },
    async keepTarball(integrity, bytes) {
      try {
        await (await library()).put(folder, `tarball:${integrity}`, bytes, { integrity, algorithms: ['sha512'] });
      } catch (error) {
        throw diskProblem(error, folder);
      }
    },
    async text(key) {
      try {
        return (await (await library()).get(folder, key)).data.toString('utf8');
      } catch {
        return undefined; // not there, or damaged: not cached
      }
    },
    async keepText(key, bytes) {
      await (await library()).put(folder, key, bytes).catch(() => undefined);
    },
  };
}
