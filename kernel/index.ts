/**
 * The face of the kernel: what its users may import. `export *` where interfaces are merged into: a
 * declaration can only be merged through it, not through a named re-export.
 */
export * from './contribution-spec.ts';
export * from './hook-spec.ts';
export type { Call } from './call.ts';
export { type ConfigControl, configControl } from './config/control.ts';
export type { Inspection } from './config/inspect.ts';
export type { Ignored } from './config/sources.ts';
export {
  type KernelControl,
  kernelControl,
  type PluginInfo,
  type TapInfo,
  type TrustControl,
  trustControl,
} from './control.ts';
export { allow, ask, type Decision, deny, type Verdict } from './decision.ts';
export { type ErrorCode, isKernelError, KernelError } from './errors.ts';
export { describeError, type Fault, faultCause, FaultError, type FaultKind, faultLine, isOperational, oneLine, OperationalError } from './heal/fault.ts';
export { type FaultRecord, faultTitle, forgetFaults, pluginsWithFaults, sourceLine } from './heal/fault-journal.ts';
export { type InstallRequest, type InstallResult, type Installer, installer } from './installer.ts';
export { type Frozen, freezeJson, type Json } from './json.ts';
export { holdLock } from './lock-file.ts';
export type { Logger } from './log.ts';
export { didYouMean, nearest } from './near.ts';
export { homeFolder, makeFolder } from './paths.ts';
export { definePlugin, type ExecOptions, type Guarded, type Item, type PluginContext, type PluginDefinition, type PluginStatic } from './plugin.ts';
export { type ProcessGuardian, processGuardian } from './process-guardian.ts';
export { type Disposable, disposable } from './scope.ts';
export { isSecretName } from './secret-name.ts';
export { defineService, type ServiceRef } from './service.ts';
export type { Tier } from './tier.ts';
