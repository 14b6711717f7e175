/** The face of the kernel: what its users may import. */
export { allow, ask, deny, type Decision, type Verdict } from './decision.ts';
export type { Call } from './call.ts';
export { KernelError, isKernelError, type ErrorCode } from './errors.ts';
export { FaultError, OperationalError, isOperational, type Fault, type FaultKind } from './fault.ts';
export { type ExecOptions, type PluginContext, type PluginDefinition, type PluginStatic, definePlugin } from './plugin.ts';
export { type Json, type Frozen } from './json.ts';
export { type Logger } from './log.ts';
export { type ServiceRef, defineService } from './service.ts';
export { type Tier } from './tier.ts';
export * from './hook-spec.ts';
export * from './contribution-spec.ts';
