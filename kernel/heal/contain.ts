/**
 * Process-wide containment: errors nobody catches, attempts to end the process, timers and console
 * output of plugins. Patches are undone when the kernel is disposed.
 */
import { syncBuiltinESMExports } from 'node:module';
import { KernelError } from '../errors.ts';
import type { FaultKind } from './fault.ts';
import type { PluginRecord } from '../lifecycle.ts';
import type { Provenance } from './provenance.ts';
import { disposable, type Disposable } from '../scope.ts';
import { guardStackFormat, hideAdditions } from './contain-globals.ts';
import { foreign } from './contain-patch.ts';
import { redirectConsole, redirectOutput } from './contain-output.ts';
import { refuseEvents, refuseProcessControl, trackListeners } from './contain-process.ts';
import { trackTimers } from './contain-timers.ts';
import { confineModules } from '../trust/confine.ts';
import { faultKind } from './guard.ts';
import { setImmediate } from './own-timers.ts';

export interface ContainmentHost {
  readonly provenance: Provenance;
  readonly fault: (owner: PluginRecord | undefined, where: string, kind: FaultKind, error: unknown) => void;
  /** Whether a slot's guard already told of this very error. */
  readonly known: (error: unknown) => boolean;
}

export interface Containment extends Disposable {
  /** Ends what a plugin left behind, and says how much there was. */
  clear(record: PluginRecord): { readonly timers: number; readonly listeners: number };
  /** Whether something of a plugin is left in the process while none of its calls runs. */
  isBusy(record: PluginRecord): boolean;
  /** Looks at what a stretch of a plugin's code did to what everybody shares. */
  checkGlobals(record: PluginRecord, where: string): void;
}

export function containProcess(host: ContainmentHost): Containment {
  const ownerOf = (error?: unknown) => host.provenance.ownerOf(error) as PluginRecord | undefined;
  const undo: (() => void)[] = [];

  const tell = (owner: PluginRecord | undefined, where: string, kind: FaultKind, error: unknown) => {
    if (!host.known(error)) host.fault(owner, where, faultKind(kind, error), error);
  };
  // A part of the agent that called a plugin stands in the context of whatever that left behind. It has no folder to
  // show that an error is its own: nobody is blamed, and nothing turned off.
  const uncaught = (where: string) => (error: unknown) => {
    const owner = ownerOf(error);
    tell(foreign(owner) ? owner : undefined, where, 'stray', error);
  };
  undo.push(listen('uncaughtException', uncaught('stray error')), listen('unhandledRejection', uncaught('unhandled rejection')));
  // The throw that refuses an exit is told by the guard it passes; a plugin that swallows it is told of here.
  const refused = (owner: PluginRecord, error: KernelError): void => void setImmediate(tell, owner, 'process', 'exit', error);
  undo.push(...refuseProcessControl(ownerOf, refused), refuseEvents(host.provenance, refused));
  undo.push(...redirectConsole(ownerOf), ...redirectOutput(host.provenance), guardStackFormat(), confineModules(host.provenance));
  const tracked = trackTimers(host.provenance, (owner, error) => tell(owner, 'timer', 'stray', error));
  const listeners = trackListeners(host.provenance, (owner, error) => tell(owner, 'process listener', 'stray', error));
  undo.push(...tracked.undo, ...listeners.undo);
  syncBuiltinESMExports();

  return {
    clear: (record) => ({ timers: tracked.clear(record), listeners: listeners.clear(record) }),
    isBusy: (record) => tracked.count(record) + listeners.count(record) > 0,
    checkGlobals(record, where) {
      if (record.tier === 'builtin') return;
      for (const what of hideAdditions()) host.fault(record, where, 'contract', new KernelError('PROTOTYPE', { what }));
    },
    dispose: disposable(() => {
      for (const step of undo.reverse()) step();
      syncBuiltinESMExports();
    }).dispose,
  };
}

function listen(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): () => void {
  process.on(event, listener);
  return () => process.off(event, listener);
}
