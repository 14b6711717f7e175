/** Shared objects of the language that a plugin changes for everybody. */
/**
 * A function a plugin sets to format stacks is called whenever anybody looks at one: what it throws would
 * surface in the middle of the host. Where it fails the stack is formatted as if it were not there.
 */
export function guardStackFormat(): () => void {
  type Format = (error: Error, frames: NodeJS.CallSite[]) => unknown;
  const original = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  // Libraries put back what they found here: what is guarded already is not guarded again.
  const guards = new WeakSet<Format>();
  const guard = (format: unknown): Format | undefined => {
    if (typeof format !== 'function' || guards.has(format as Format)) return format as Format | undefined;
    const guarded: Format = (error, frames) => {
      try {
        return (format as Format)(error, frames);
      } catch {
        return [String(error), ...frames.map((frame) => `    at ${String(frame)}`)].join('\n');
      }
    };
    guards.add(guarded);
    return guarded;
  };
  let current = guard(Error.prepareStackTrace);
  Object.defineProperty(Error, 'prepareStackTrace', { configurable: true, get: () => current, set: (format: unknown) => (current = guard(format)) });
  return () => {
    delete (Error as { prepareStackTrace?: unknown }).prepareStackTrace;
    if (original) Object.defineProperty(Error, 'prepareStackTrace', original);
  };
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
