/**
 * Keeps the code of a confined plugin to the folder that was trusted, at the moment each module is resolved.
 * The scan of `imports.ts` refuses what can be seen before anything runs; this is for the rest: computed
 * names, packages that pull in their neighbours, manifests that point elsewhere.
 */
import Module, { registerHooks } from 'node:module';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KernelError } from '../errors.ts';
import type { PluginRecord } from '../lifecycle.ts';
import { isInside, realPath } from '../paths.ts';
import type { Provenance } from '../heal/provenance.ts';

type Resolve = (request: string, ...rest: unknown[]) => string;

/** The agent's own code, which may be fetched while a plugin is running; jiti answers for the plugin's. */
const own = [fileURLToPath(new URL('..', import.meta.url)), packageFolder('jiti')];

/** Installs the check for the whole process. @returns removes it */
export function confineModules(provenance: Provenance): () => void {
  const inner = Module as unknown as { _resolveFilename: Resolve };
  const original = inner._resolveFilename;
  const confined: Resolve = function (this: unknown, request, ...rest) {
    const resolved = original.call(this, request, ...rest);
    check(provenance, request, resolved);
    return resolved;
  };
  inner._resolveFilename = confined;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const result = next(specifier, context);
      if (result.url.startsWith('file:')) check(provenance, specifier, fileURLToPath(result.url));
      return result;
    },
  });
  return () => {
    if (inner._resolveFilename === confined) inner._resolveFilename = original;
    hooks.deregister();
  };
}

function check(provenance: Provenance, specifier: string, resolved: string): void {
  const { candidate } = (provenance.running() ?? {}) as Partial<PluginRecord>;
  if (candidate?.confine === undefined || !isAbsolute(resolved)) return;
  const real = realPath(resolved) ?? resolved;
  if (!own.some((folder) => isInside(folder, real))) checkConfined(candidate.confine, real, specifier);
}

/** @throws KernelError `ESCAPES` for a module that does not lie in `confine`, links followed */
export function checkConfined(confine: string, module: string, specifier = module): void {
  const real = realPath(module) ?? module;
  if (!isInside(confine, real)) throw new KernelError('OUTSIDE', { specifier: specifier === real ? real : `${specifier} (${real})`, root: confine });
}

function packageFolder(name: string): string {
  const entry = Module.createRequire(import.meta.url).resolve(name);
  const marker = `node_modules/${name}/`;
  return realPath(entry.slice(0, entry.lastIndexOf(marker) + marker.length)) ?? entry;
}
