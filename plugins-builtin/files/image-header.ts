/** Recognising images by their first bytes, and reading their size in pixels. */

export interface ImageHeader {
  readonly mediaType: string;
  /** `PNG` */
  readonly label: string;
  /** Undefined when the header is damaged: such a file is not an image anyone can show. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
}

type Size = { readonly width: number; readonly height: number };

/** What image `bytes` holds, by magic bytes and not by name; undefined when none that models can see. */
export function readImageHeader(bytes: Buffer): ImageHeader | undefined {
  const magic = bytes.toString('latin1', 0, 16);
  if (magic.startsWith('\x89PNG\r\n\x1a\n')) return image('image/png', 'PNG', pngSize(bytes));
  if (magic.startsWith('\xff\xd8\xff')) return image('image/jpeg', 'JPEG', jpegSize(bytes));
  if (/^GIF8[79]a/.test(magic)) return image('image/gif', 'GIF', gifSize(bytes));
  if (/^RIFF[^]{4}WEBPVP8/.test(magic)) return image('image/webp', 'WebP', webpSize(bytes));
  return undefined;
}

function image(mediaType: string, label: string, size: Size | undefined): ImageHeader {
  return { mediaType, label, size: size && size.width > 0 && size.height > 0 ? size : undefined };
}

function pngSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): Size | undefined {
  return bytes.length < 10 ? undefined : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** The three chunk layouts of https://developers.google.com/speed/webp/docs/riff_container */
function webpSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** Walks the JPEG segments to the frame header, which alone carries the size. */
function jpegSize(bytes: Buffer): Size | undefined {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    const isFill = marker === 0xff;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += isFill ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
