/** An npm registry on the loopback: packuments and tarballs over HTTP, as clean or as hostile as a test wants it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { packageTarball, sha512 } from './tarball.ts';

export interface Publication {
  readonly name: string;
  readonly version?: string;
  /** Added to its package.json. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
  /** How long ago it came out; null where the registry is not to say. */
  readonly daysAgo?: number | null;
  readonly publisher?: string;
  readonly attested?: boolean;
  /** Instead of what is made of `files`. */
  readonly tarball?: Buffer;
  /** What the registry says, over what is so. */
  readonly told?: Readonly<Record<string, unknown>>;
  readonly integrity?: string | null;
}

/** Answers a request itself (true), or lets the registry do so. */
export type Interceptor = (path: string, response: ServerResponse, request: IncomingMessage) => boolean | Promise<boolean>;

export interface NpmRegistry extends AsyncDisposable {
  /** Ends in a slash. */
  readonly url: string;
  /** Paths that were asked for, in order. */
  readonly requests: string[];
  publish(...publications: readonly Publication[]): void;
  /** Replaces the bytes behind a version, and nothing that is said of them. */
  tamper(name: string, version: string, bytes: Buffer): void;
  /** Called for every request; undefined takes it away. */
  intercept(interceptor: Interceptor | undefined): void;
  close(): Promise<void>;
}

const dayMs = 86_400_000;

interface Stored {
  readonly versions: Record<string, unknown>;
  readonly time: Record<string, string>;
  latest: string;
}

export async function startRegistry(): Promise<NpmRegistry> {
  const packages = new Map<string, Stored>();
  const tarballs = new Map<string, Buffer>();
  const requests: string[] = [];
  let interceptor: Interceptor | undefined;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent(request.url ?? '/');
    requests.push(path);
    if (await interceptor?.(path, response, request)) return;
    const tarball = tarballs.get(path);
    if (tarball) return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(tarball);
    const stored = packages.get(path.slice(1));
    if (!stored) return void response.writeHead(404).end('{}');
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ name: path.slice(1), 'dist-tags': { latest: stored.latest }, versions: stored.versions, time: stored.time }));
  };
  const server = createServer((request, response) => void answer(request, response).catch((error: unknown) => response.destroy(error as Error)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };

  return {
    url,
    requests,
    publish(...publications) {
      for (const { name, version = '1.0.0', manifest = {}, files = {}, daysAgo = 400, publisher = 'ann', attested = false, tarball, told = {}, integrity } of publications) {
        const packageJson = { name, version, ...manifest };
        const bytes = tarball ?? packageTarball({ 'package.json': JSON.stringify(packageJson), ...files });
        const place = `/${name}/-/${name.replace(/^@[^/]+\//, '')}-${version}.tgz`;
        tarballs.set(place, bytes);
        const stored = packages.get(name) ?? { versions: {}, time: {}, latest: version };
        packages.set(name, stored);
        stored.latest = version;
        const when = daysAgo === null ? undefined : new Date(Date.now() - daysAgo * dayMs).toISOString();
        if (when !== undefined) Object.assign(stored.time, { created: stored.time['created'] ?? when, [version]: when });
        stored.versions[version] = {
          ...packageJson,
          _npmUser: { name: publisher, email: 'x@example.org' },
          dist: { tarball: new URL(place.slice(1), url).href, ...(integrity === null ? {} : { integrity: integrity ?? sha512(bytes) }), ...(attested && { attestations: { url: `${url}-/attestations`, provenance: { predicateType: 'https://slsa.dev/provenance/v1' } } }) },
          ...told,
        };
      }
    },
    tamper: (name, version, bytes) => void tarballs.set(`/${name}/-/${name.replace(/^@[^/]+\//, '')}-${version}.tgz`, bytes),
    intercept: (next) => {
      interceptor = next;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A plugin with one command, which prints what its dependency answers. */
export function pluginPublication(name: string, id: string, { agent = {}, manifest = {}, files = {}, ...rest }: Omit<Publication, 'name'> & { readonly agent?: Readonly<Record<string, unknown>> } = {}): Publication {
  return {
    name,
    manifest: { type: 'module', agent: { id, ...agent }, ...manifest },
    files: { 'index.ts': pluginCode(id), ...files },
    ...rest,
  };
}

export function pluginCode(id: string, text = `'hello from ${id}'`, imports = ''): string {
  return `import { definePlugin } from 'newt-agent';\n${imports}\nexport default definePlugin({}, () => ({ commands: { '${id}': { description: 'says hello', run: (_, { io }) => { io.print(String(${text})); return 0; } } } }));\n`;
}
