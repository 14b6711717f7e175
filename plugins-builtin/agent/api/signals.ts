/** Who decides what a signal to the process means: a channel or a command that is at work. */
const deciding = new WeakSet<object>();

/** Marks a listener of `process` as one that decides; without one a signal ends the process. What a plugin only listens to decides nothing. */
export function decidesOnSignal<Listener extends object>(listener: Listener): Listener {
  deciding.add(listener);
  return listener;
}

/** Whether somebody at work hears of `name`, and decides. */
export function isDecided(name: NodeJS.Signals): boolean {
  return process.rawListeners(name).some((listener) => deciding.has(listener));
}
