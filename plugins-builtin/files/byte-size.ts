const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** `340 bytes`, `1.2 kB`, `12 MB`: decimal units, at most one digit after the point. */
export function byteSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
