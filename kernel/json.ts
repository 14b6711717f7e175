/** JSON values: what payloads, stream parts and persisted records are made of. */
import { KernelError } from './errors.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A value the holder may read but not change; the type-level twin of {@link freezeJson}. */
export type Frozen<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer E)[]
    ? readonly Frozen<E>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T;

// What the kernel froze itself: only such values are known to be plain JSON all the way down, so a
// second pass over a payload costs one lookup. A value a plugin froze is not trusted to be deep.
const frozenByKernel = new WeakSet<object>();
const maxDepth = 200;

/**
 * Deep-freezes `value` in place and proves that it is plain JSON: no functions, class instances,
 * accessors, symbols, non-finite numbers or cycles. `undefined` members are allowed and mean absent.
 *
 * @throws KernelError `NOT_JSON`, naming the path of the first offender.
 */
export function freezeJson<T>(value: T): T {
  const given: unknown = value;
  if (typeof given === 'object' && given !== null) {
    if (!frozenByKernel.has(given)) freeze(given, [], new Set());
  } else if (typeof given === 'function' || typeof given === 'symbol' || typeof given === 'bigint') {
    throw notJson([], typeof given);
  } else if (typeof given === 'number' && !Number.isFinite(given)) throw notJson([], String(given));
  return value;
}

function freeze(value: object, path: string[], open: Set<object>): void {
  if (open.has(value)) throw notJson(path, 'a cycle');
  if (path.length > maxDepth) throw notJson(path.slice(0, 5), `nesting deeper than ${maxDepth}`);
  const isArray = Array.isArray(value);
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== null && !isRoot(isArray ? (Object.getPrototypeOf(prototype) as object | null) : prototype)) throw notJson(path, className(prototype));
  open.add(value);
  // Frozen before it is looked at: of what is frozen even a Proxy must tell the truth.
  Object.freeze(value);
  for (const key of Reflect.ownKeys(value)) {
    const member = Reflect.getOwnPropertyDescriptor(value, key);
    if (!member || (isArray && key === 'length')) continue;
    if (typeof key === 'symbol') throw notJson(path, 'a symbol key');
    if (!('value' in member)) throw notJson([...path, key], 'an accessor');
    checkMember(member.value, path, key, open);
  }
  open.delete(value);
  frozenByKernel.add(value);
}

/** Whether nothing is behind it: the prototype of plain objects, of this realm or another. */
function isRoot(prototype: object | null): boolean {
  return prototype !== null && Object.getPrototypeOf(prototype) === null;
}

function checkMember(member: unknown, path: string[], key: string, open: Set<object>): void {
  switch (typeof member) {
    case 'object':
      if (member !== null && !frozenByKernel.has(member)) freeze(member, [...path, key], open);
      return;
    case 'number':
      if (!Number.isFinite(member)) throw notJson([...path, key], String(member));
      return;
    case 'function':
    case 'symbol':
    case 'bigint':
      throw notJson([...path, key], typeof member);
    default:
  }
}

function className(prototype: object): string {
  const constructor: unknown = Reflect.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  return typeof constructor === 'function' ? `an instance of ${constructor.name}` : 'a class instance';
}

function notJson(path: string[], found: string): KernelError {
  return new KernelError('NOT_JSON', { path: path.length ? path.join('.') : 'the value', found });
}
