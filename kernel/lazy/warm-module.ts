/**
 * A warm start: a plugin whose sources were transpiled before is evaluated without jiti, which alone costs more than
 * most plugins. Whatever is out of the ordinary (packages, dynamic imports, top-level await) is left to jiti.
 */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, sep } from 'node:path';
import { compileFunction } from 'node:vm';
import { ImportScan } from '../trust/imports.ts';
import type { TranspiledSources } from './transpiled.ts';

interface Compiled {
  readonly run: (exports: object, require: (specifier: string) => unknown, module: { exports: object }, filename: string, dirname: string) => void;
  readonly imports: ReadonlyMap<string, string>;
}

const parameters = ['exports', 'require', 'module', '__filename', '__dirname'];
const requires = /\brequire\(\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\)/g;
const anyRequire = /\brequire\b/g;
/** CommonJS, which jiti gives its importers in a way of its own. */
const ownExports = /\b(?:module\s*\.\s*exports|exports\s*[.[=])/;
/** What transpiled code calls that only jiti has. */
const ofJiti = /\bjiti(?:Import|ESMResolve)\b|\brequire\s*\.|\bimport\s*\(/;

/**
 * Everything the module needs, compiled, before any of it runs.
 * @param look hears of each file first, and may throw
 * @param common what plugins share, by file
 * @returns evaluates it and answers its exports; undefined where jiti has to do it
 */
export function warmModule(entry: string, sources: TranspiledSources, host: (specifier: string) => object | undefined, look: (file: string) => void, common: Map<string, { exports: object }> = new Map()): (() => unknown) | undefined {
  const modules = new Map<string, Compiled>();
  const scan = new ImportScan();
  const waiting = [entry];
  for (const file of waiting) {
    if (modules.has(file)) continue;
    look(file);
    const source = readFileSync(file, 'utf8');
    const code = sources.find(file, source);
    if (code === undefined || ofJiti.test(code) || ownExports.test(source)) return undefined;
    const calls = [...code.matchAll(requires)];
    // What is required by another name, or by one that is computed.
    if (calls.length !== [...code.matchAll(anyRequire)].length) return undefined;
    const relative = new Map(scan.of(file).paths.flatMap(({ specifier, resolved }) => (resolved === undefined ? [] : [[specifier, resolved] as const])));
    const imports = new Map<string, string>();
    for (const [, double, single] of calls) {
      const specifier = double ?? single ?? '';
      const target = relative.get(specifier);
      if (target !== undefined) imports.set(specifier, target);
      else if (!isBuiltin(specifier) && host(specifier) === undefined) return undefined;
    }
    try {
      modules.set(file, { run: compileFunction(code, parameters, { filename: file }) as Compiled['run'], imports });
    } catch {
      return undefined; // jiti says better what is wrong with it
    }
    waiting.push(...imports.values());
  }
  return () => evaluate(entry, modules, host, common);
}

/** As CommonJS does: once each, and who imports in a circle sees what is there so far. */
function evaluate(entry: string, modules: ReadonlyMap<string, Compiled>, host: (specifier: string) => object | undefined, common: Map<string, { exports: object }>): unknown {
  const own = new Map<string, { exports: object }>();
  const folder = dirname(entry) + sep;
  const enter = (file: string): unknown => {
    // What lies outside of the plugin's folder is shared by all that import it, as it would be by jiti.
    const evaluated = file.startsWith(folder) ? own : common;
    const known = evaluated.get(file);
    const compiled = modules.get(file);
    if (known || !compiled) return known?.exports;
    const module = { exports: {} };
    evaluated.set(file, module);
    const require = (specifier: string): unknown => {
      const target = compiled.imports.get(specifier);
      return target === undefined ? (host(specifier) ?? process.getBuiltinModule(specifier)) : enter(target);
    };
    compiled.run.call(undefined, module.exports, require, module, file, dirname(file));
    return module.exports;
  };
  return enter(entry);
}

/** A module of the host as transpiled code expects one: its names, and a default. */
export function asCommonJs(namespace: object): object {
  const names = { ...namespace } as Record<string, unknown>;
  // All plugins get the same one: frozen, as a namespace is. Who lists its names sees those of the namespace.
  return Object.freeze(Object.defineProperties(names, { default: { value: names['default'] ?? namespace, enumerable: 'default' in names }, __esModule: { value: true } }));
}
