/** Settings that several plugins read, and how settings are shown to a person: flat, short, and without secrets. */
import { z } from 'zod';
import { isSecretName } from '../../../kernel/index.ts';

/** The members of `tools`. The agent owns them; who else reads them picks from here, so that defaults cannot drift. */
export const toolSettings = z.object({
  timeout: z.number().positive().default(120).describe('Seconds a tool may take, unless it sets its own limit'),
  allow_exec: z.boolean().default(true).describe('Whether commands may be run at all'),
  paths: z.array(z.string()).default([]).describe('Folders beyond the workspace that tools may use'),
});

const mask = '********';

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
  if (typeof value === 'string') return value && (isSecretName(path.at(-1) ?? '') || path.includes('headers')) ? mask : withoutSecrets(value);
  if (Array.isArray(value)) return value.map((item) => maskSecrets(key, item));
  return isMap(value) ? Object.fromEntries(Object.entries(value).map(([name, below]) => [name, maskSecrets(`${key}.${name}`, below)])) : value;
}

/** `http://user:password@host/path?key`, or `http://key@host`: a user without a password is a key. */
function withoutSecrets(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#@:]*:)[^/?#]+|[^/?#]+)@/i, (_, scheme: string, user: string = '') => `${scheme}${user}${mask}@`)
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^?#\s]*\?)[^\s]+/i, `$1${mask}`);
}

/** Text as it is, everything else as JSON. */
export function settingText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
