/** Which registry a package is asked of: the person's own setting of npm. Only addresses are taken, never a token. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeFolder } from 'newt-agent';

export interface Registries {
  /** For every name whose scope has none of its own; undefined: npm's own default. */
  readonly usual: string | undefined;
  /** `@scope` to its registry: a private scope is never asked for anywhere else. */
  readonly scopes: ReadonlyMap<string, string>;
}

/** @param stated what outranks `~/.npmrc`: our own setting first, then npm's variable */
export function readRegistries(stated: readonly (string | undefined)[], home: string | undefined = homeFolder()): Registries {
  const lines = home === undefined ? [] : npmrcLines(join(home, '.npmrc'));
  const set = new Map(lines.flatMap((line) => {
    const [, key = '', value = ''] = /^\s*(@[\w.~-]+:registry|registry)\s*=\s*"?([^"\s]+)"?\s*$/.exec(line) ?? [];
    const url = plainUrl(value);
    return url === undefined ? [] : [[key, url] as const];
  }));
  const scopes = new Map([...set].flatMap(([key, url]) => (key.startsWith('@') ? [[key.slice(0, -':registry'.length), url] as const] : [])));
  return { usual: stated.map((one) => plainUrl(one ?? '')).find((url) => url !== undefined) ?? set.get('registry'), scopes };
}

/** The registry of a package; ends in a slash. @param fallback npm's own default */
export function registryOf(name: string, { usual, scopes }: Registries, fallback: string): string {
  const scope = name.startsWith('@') ? name.slice(0, name.indexOf('/')) : '';
  return withSlash(scopes.get(scope) ?? usual ?? fallback);
}

/** The address alone: no user, no password, no query, of a protocol that is one. */
function plainUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, pathname } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' ? withSlash(`${protocol}//${host}${pathname}`) : undefined;
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}

/** No file, or none we may read: nothing is set. */
function npmrcLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/);
  } catch {
    return [];
  }
}
