/** Tarballs for tests, byte by byte: also those that no packer would make. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface TarEntry {
  /** As it is to stand in the archive: nothing is cleaned. */
  readonly path: string;
  readonly content?: string | Buffer;
  /** `0` a file, `1` a hard link, `2` a link, `3` a device, `5` a folder. */
  readonly type?: '0' | '1' | '2' | '3' | '5';
  readonly link?: string;
  readonly mode?: number;
}

/** A gzipped archive of these entries, in this order. */
export function tarball(entries: readonly TarEntry[]): Buffer {
  return gzipSync(Buffer.concat([...entries.flatMap(record), Buffer.alloc(1_024)]));
}

/** The archive npm would make of a package: all of it below `package/`. */
export function packageTarball(files: Readonly<Record<string, string | Buffer>>): Buffer {
  return tarball(Object.entries(files).map(([path, content]) => ({ path: `package/${path}`, content })));
}

export function sha512(bytes: Buffer): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

function record({ path, content = '', type = '0', link = '', mode = 0o644 }: TarEntry): Buffer[] {
  const body = Buffer.from(content);
  const header = Buffer.alloc(512);
  const octal = (value: number, at: number, length: number): void => void header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
  header.write(path, 0, 100);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(body.length, 124, 12);
  octal(0, 136, 12);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
}
