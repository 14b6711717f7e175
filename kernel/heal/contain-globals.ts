/** Shared objects of the language that a plugin changes for everybody. */
import { stackOf } from './fault.ts';

/** Stacks as V8 made them. Undefined while nobody contains plugins. */
let made: WeakMap<object, string> | undefined;

/** The stack V8 made for `error`: what a plugin put in its place, or made up, blames nobody. */
export function stackMadeFor(error: unknown): string {
  const shown = stackOf(error); // it is made when it is first looked at
  return made ? (made.get(error as object) ?? '') : shown;
}

/**
 * A function a plugin sets to format stacks is called whenever anybody looks at one: what it throws would
 * surface in the middle of the host. Where it fails the stack is formatted as if it were not there, and what
 * V8 has to say is noted for {@link stackMadeFor} in any case.
 */
export function guardStackFormat(): () => void {
  type Format = (error: Error, frames: NodeJS.CallSite[]) => unknown;
  const original = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  // Libraries put back what they found here: what is guarded already is not guarded again.
  const guards = new WeakSet<Format>();
  const guard = (format: unknown): Format | undefined => {
    if (typeof format !== 'function' || guards.has(format as Format)) return format as Format | undefined;
    const guarded: Format = (error, frames) => {
      const plain = plainStack(error, frames);
      try {
        made?.set(error, plain);
        return (format as Format)(error, frames);
      } catch {
        return plain;
      }
    };
    guards.add(guarded);
    return guarded;
  };
  made = new WeakMap();
  const usual = guard(plainStack);
  let current = guard(Error.prepareStackTrace) ?? usual;
  Object.defineProperty(Error, 'prepareStackTrace', { configurable: true, get: () => current, set: (format: unknown) => (current = guard(format) ?? usual) });
  return () => {
    made = undefined;
    delete (Error as { prepareStackTrace?: unknown }).prepareStackTrace;
    if (original) Object.defineProperty(Error, 'prepareStackTrace', original);
  };
}

/** As V8 writes a stack by itself. */
function plainStack(error: Error, frames: readonly NodeJS.CallSite[]): string {
  let head = 'Error';
  try {
    head = Error.prototype.toString.call(error);
  } catch {
    // Whatever its getters do, the frames are what is asked for.
  }
  return [head, ...frames.map((frame) => `    at ${String(frame)}`)].join('\n');
}

const shared: readonly [name: string, prototype: object][] = [
  ['Object', Object.prototype],
  ['Array', Array.prototype],
  ['String', String.prototype],
  ['Function', Function.prototype],
];

/**
 * Old libraries extend prototypes by assignment, and from then on every `for…in` of the process meets the
 * addition. It stays, but is no longer met: that is all such code needs, and all that others suffer from.
 *
 * @returns what was hidden, as `Object.prototype.each`
 */
export function hideAdditions(): string[] {
  return shared.flatMap(([name, prototype]) =>
    Object.keys(prototype).flatMap((key) => {
      const member = Object.getOwnPropertyDescriptor(prototype, key);
      if (!member?.configurable) return [];
      Object.defineProperty(prototype, key, { ...member, enumerable: false });
      return [`${name}.prototype.${key}`];
    }),
  );
}
