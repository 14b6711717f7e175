/**
 * A warm start: a plugin whose sources were transpiled before is evaluated without jiti, which alone costs more than
 * most plugins. Whatever is out of the ordinary (packages, dynamic imports, top-level await) is left to jiti.
 */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';
import { ImportScan } from '../trust/imports.ts';
import type { TranspiledSources } from './transpiled.ts';

interface Compiled {
  readonly run: (exports: object, require: (specifier: string) => unknown, module: { exports: object }, filename: string, dirname: string) => void;
  readonly imports: ReadonlyMap<string, string>;
}

const parameters = ['exports', 'require', 'module', '__filename', '__dirname'];
const requires = /\brequire\(\s*(?:"([^"\\]+)"|'([^'\\]+)'|)/g;
/** What transpiled code calls that only jiti has. */
const ofJiti = /\bjiti(?:Import|ESMResolve)\b|\brequire\s*\.|\bimport\s*\(/;

/**
 * Everything the module needs, compiled, before any of it runs.
 * @param look hears of each file first, and may throw
 * @returns evaluates it and answers its exports; undefined where jiti has to do it
 */
export function warmModule(entry: string, sources: TranspiledSources, host: (specifier: string) => object | undefined, look: (file: string) => void): (() => unknown) | undefined {
  const modules = new Map<string, Compiled>();
  const scan = new ImportScan();
  const waiting = [entry];
  for (const file of waiting) {
    if (modules.has(file)) continue;
    look(file);
    const code = sources.find(file, readFileSync(file, 'utf8'));
    if (code === undefined || ofJiti.test(code)) return undefined;
    const relative = new Map(scan.of(file).paths.flatMap(({ specifier, resolved }) => (resolved === undefined ? [] : [[specifier, resolved] as const])));
    const imports = new Map<string, string>();
    for (const [, double, single] of code.matchAll(requires)) {
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
  return () => evaluate(entry, modules, host);
}

/** As CommonJS does: once each, and who imports in a circle sees what is there so far. */
function evaluate(entry: string, modules: ReadonlyMap<string, Compiled>, host: (specifier: string) => object | undefined): unknown {
  const evaluated = new Map<string, { exports: object }>();
  const enter = (file: string): unknown => {
    const known = evaluated.get(file);
    const compiled = modules.get(file);
    if (known || !compiled) return known?.exports;
    const module = { exports: {} };
    evaluated.set(file, module);
    const require = (specifier: string): unknown => {
      const target = compiled.imports.get(specifier);
      return target === undefined ? (host(specifier) ?? process.getBuiltinModule(specifier)) : enter(target);
    };
    compiled.run(module.exports, require, module, file, dirname(file));
    return module.exports;
  };
  return enter(entry);
}

/** A module of the host as transpiled code expects one: its names, and a default. */
export function asCommonJs(namespace: object): object {
  const names = { ...namespace } as Record<string, unknown>;
  return Object.defineProperty({ ...names, default: names['default'] ?? namespace }, '__esModule', { value: true });
}
