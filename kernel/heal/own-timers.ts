/**
 * Timers of the kernel itself. Containment replaces the global functions to tell which plugin started what,
 * and ends a plugin's timers with it: one of the kernel's that a plugin's call happened to start must live on.
 */
export const { setImmediate, setInterval, setTimeout } = globalThis;
