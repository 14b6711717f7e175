/** Settings as they are shown to a person: flat, short, and without secrets. */

const mask = '********';
const secretName = /(^|[_-])(key|token|secret|password|passwd|authorization|cookie)$/i;

/** A setting by its dotted key. */
export interface Setting {
  readonly key: string;
  readonly value: unknown;
}

/** What is set at and below `key`, one by one. A map without members is a setting of its own. */
export function settingsBelow(key: string, value: unknown): Setting[] {
  const inner = isMap(value) ? Object.entries(value) : [];
  return inner.length > 0 ? inner.flatMap(([name, below]) => settingsBelow(`${key}.${name}`, below)) : [{ key, value }];
}

/** The value with every secret in it masked. */
export function maskSecrets(key: string, value: unknown): unknown {
  const path = key.split('.');
  if (typeof value === 'string') return value && (secretName.test(path.at(-1) ?? '') || path.includes('headers')) ? mask : withoutPassword(value);
  if (Array.isArray(value)) return value.map((item) => maskSecrets(key, item));
  return isMap(value) ? Object.fromEntries(Object.entries(value).map(([name, below]) => [name, maskSecrets(`${key}.${name}`, below)])) : value;
}

/** `http://user:password@host/path?key` */
function withoutPassword(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/@:]*):[^/@]*@/i, `$1:${mask}@`).replace(/^([a-z][a-z0-9+.-]*:\/\/[^?#\s]*\?)[^\s]+/i, `$1${mask}`);
}

/** Text as it is, everything else as JSON. */
export function settingText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
