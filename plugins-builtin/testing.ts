/** `newt-agent/testing`: what a plugin author tests with, under any test runner. */
export { bootAgent, type BootOptions, type RunOptions, type TaskResult, type TestAgent, type ToolAnswer, type ToolOptions } from './testing/agent.ts';
export { chaos, type ChaosOptions } from './testing/chaos.ts';
export type { ChaosProblem, ChaosReport } from './testing/chaos-report.ts';
export type { Clock } from './testing/clock.ts';
export type { Deed, DeedOf } from './testing/deeds.ts';
export type { GivenPlugin } from './testing/given-plugin.ts';
export type { CommandOptions, CommandResult } from './testing/run-command.ts';
export type { Reply, Script, ScriptedCall, SeenRequest } from './testing/scripted-model.ts';
