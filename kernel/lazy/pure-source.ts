/** Whether the answer of a setup can depend on nothing but its configuration, as far as its source tells. */
import { readFileSync } from 'node:fs';
import { importClosure } from '../trust/imports.ts';

const imported = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(['"`])([^'"`\n]+)\1/g;
/** These tell nothing of the machine, the moment or the folder. */
const harmless: readonly string[] = ['newt-agent', 'zod', 'node:assert', 'node:buffer', 'node:path', 'node:string_decoder', 'node:url', 'node:util'];
/** Where the world begins. A word in a text counts as well: that costs a start some milliseconds, and nobody a surprise. */
const world = /\b(?:process|globalThis|global|Date|performance|random|fetch|WebSocket|navigator|Intl|set(?:Timeout|Interval|Immediate)|queueMicrotask|eval|Function|Atomics|import\.meta)\b/;

/** Looks at the plugin's own module and what it imports by path. What cannot be read is not pure. */
export function isPure(entry: string): boolean {
  try {
    return importClosure(entry).every((file) => isPureText(readFileSync(file, 'utf8')));
  } catch {
    return false;
  }
}

function isPureText(source: string): boolean {
  return !world.test(source) && [...source.matchAll(imported)].every(([, , specifier = '']) => specifier.startsWith('.') || harmless.includes(specifier));
}
