/**
 * Provenance: whose code is running. A synchronous call is told by one variable, which costs a store;
 * what is awaited by AsyncLocalStorage, which costs about 200 ns an entry; what neither knows (a
 * listener on a socket created elsewhere) by the top stack frame that lies in a plugin's folder.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { fileURLToPath } from 'node:url';
import { relative, sep } from 'node:path';
import { stackMadeFor } from './contain-globals.ts';
import type { Deadline } from './deadline.ts';
import type { SourcePlace } from './fault.ts';
import { stackOf } from './fault.ts';
import type { SlotFunction, SlotOwner } from '../slot.ts';

/** One entry into a plugin; `outer` is the entry it was called from. */
export interface Frame {
  readonly owner: SlotOwner;
  readonly outer: Frame | undefined;
  /** How many entries it is inside of. */
  readonly depth: number;
  deadline: Deadline | undefined;
  /** How many questions to a person its deadline waits for; they may be asked before there is one. */
  held: number;
}

/** Gives the entry the deadline it is now under. */
export function putUnder(frame: Frame, deadline: Deadline): void {
  frame.deadline = deadline;
  deadline.paused = frame.held;
}

export interface OwnedFolder {
  /** Absolute real path of a folder, or of the one file of a bare plugin. */
  readonly path: string;
  readonly owner: SlotOwner;
}

export class Provenance {
  /** The owner of the synchronous stretch being run. Written by guards, restored by hook points. */
  current: SlotOwner | undefined;
  readonly #storage = new AsyncLocalStorage<Frame | undefined>();
  readonly #folders = new Set<OwnedFolder>();

  /** Runs a plugin's function so that whatever it leaves behind can be told to be its own. */
  enter(frame: Frame, fn: SlotFunction, self: unknown, first: unknown, second: unknown): unknown {
    return this.#storage.run(frame, callWith, fn, self, first, second);
  }

  newFrame(owner: SlotOwner): Frame {
    const outer = this.#storage.getStore();
    return { owner, outer, depth: outer ? outer.depth + 1 : 0, deadline: undefined, held: 0 };
  }

  /** Runs the kernel's own code outside of every plugin. */
  leave<T>(fn: () => T): T {
    return this.#storage.run(undefined, fn);
  }

  frame(): Frame | undefined {
    return this.#storage.getStore();
  }

  addFolder(folder: OwnedFolder): () => void {
    this.#folders.add(folder);
    return () => this.#folders.delete(folder);
  }

  /** The plugin whose code is running, as far as it can be told without looking at a stack. */
  running(): SlotOwner | undefined {
    return this.current ?? this.#storage.getStore()?.owner;
  }

  /** The running plugin, or the one `error` was thrown in. */
  ownerOf(error?: unknown): SlotOwner | undefined {
    const running = this.running();
    if (this.#folders.size === 0) return running;
    // A built-in that calls other plugins stands in every context: the frame of the one it called says more.
    if (running && running.tier !== 'builtin') return running;
    return this.#ownerInStack(stackMadeFor(error === undefined ? new Error('stack') : error)) ?? running;
  }

  /** The plugin whose own code called `fn`, as far as the stack tells. */
  callerOf(fn: (...args: never[]) => unknown): SlotOwner | undefined {
    if (this.#folders.size === 0) return undefined;
    const trace = {};
    Error.captureStackTrace(trace, fn);
    const { value: caller } = stackPlaces(stackMadeFor(trace)).next();
    return caller && [...this.#folders].find(({ path }) => within(path, caller.file))?.owner;
  }

  /** First position in `error`'s stack that lies in the owner's folder, relative to it. */
  place(error: unknown, owner: SlotOwner | undefined): SourcePlace | undefined {
    for (const at of stackPlaces(stackOf(error))) {
      for (const folder of this.#folders) {
        if (folder.owner !== owner || !within(folder.path, at.file)) continue;
        const shown = folder.path === at.file ? at.file.slice(at.file.lastIndexOf(sep) + 1) : relative(folder.path, at.file);
        return { ...at, file: shown };
      }
    }
    return undefined;
  }

  /** The plugin whose code `error` came from. */
  ownerInStack(error: unknown): SlotOwner | undefined {
    return this.#ownerInStack(stackOf(error));
  }

  #ownerInStack(stack: string): SlotOwner | undefined {
    for (const at of stackPlaces(stack)) {
      for (const folder of this.#folders) if (within(folder.path, at.file)) return folder.owner;
    }
    return undefined;
  }
}

// Handed to run() with its arguments, so that entering needs no closure.
function callWith(fn: SlotFunction, self: unknown, first: unknown, second: unknown): unknown {
  return fn.call(self, first, second);
}

function within(folder: string, file: string): boolean {
  return file === folder || file.startsWith(folder + sep);
}

const framePattern = /(?:\(|at (?:async )?|^\s*)((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^()\n]*?):(\d+):(\d+)\)?$/;

/** File positions of a V8 stack, innermost first. */
export function* stackPlaces(stack: string): Generator<SourcePlace> {
  for (const line of stack.split('\n')) {
    const match = framePattern.exec(line.trimEnd());
    if (!match?.[1]) continue;
    let file = match[1];
    try {
      if (file.startsWith('file://')) file = fileURLToPath(file);
    } catch {
      continue; // a URL that is no path of this machine names no file
    }
    yield { file: file.replace(/\?.*$/, ''), line: Number(match[2]), column: Number(match[3]) };
  }
}
