/**
 * A process that runs a contained kernel and tells its parent what became of it; a fork of
 * `kernel/heal/contain.test.ts`. Its arguments: a folder with `plugins/` in it, how many faults to wait for, and
 * the exit code it chooses; `stray` for a host that starts a program there is not, and listens to nothing of it.
 */
import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Fault } from '../../kernel/heal/fault.ts';
import * as face from '../../kernel/index.ts';
import { discoverFolder } from '../../kernel/discover.ts';
import { createKernel, type Kernel } from '../../kernel/kernel.ts';
import { homePaths } from '../../kernel/paths.ts';
import type { PluginInfo } from '../../kernel/control.ts';
import { candidateOf, hookSpec, sleep, stopwatch } from './boot.ts';

export interface Told {
  readonly faults: readonly Fault[];
  readonly plugins: readonly PluginInfo[];
  /** What the good plugins and `bad` answered: all taps of a waterfall, and each job. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Milliseconds from the start to the last answer. */
  readonly took: number;
  /** What `globalThis.seen` counted when the faults were in, and a while later. */
  readonly ticks: readonly [number, number];
  /** Names of events a plugin still listens to on the process: before and after the end of the kernel. */
  readonly listeners: readonly [before: number, after: number];
  /** Whether the functions of the process are its own again after the end of the kernel. */
  readonly restored: boolean;
  readonly logBytes: number;
}

declare global {
  /** Written by plugins under test. */
  var seen: number;
  /** An emitter of the host that plugins listen to. */
  var bus: EventEmitter;
}

async function main(folder: string, expected: number): Promise<Told> {
  globalThis.seen = 0;
  globalThis.bus = new EventEmitter();
  const before = [process.exit, process.kill, process.on, globalThis.setTimeout, console.log];
  const listening = process.listenerCount('uncaughtException');
  const faults: Fault[] = [];
  const kernel = createKernel({
    version: '1.0.0',
    paths: homePaths({ AGENT_HOME: folder }),
    candidates: [host(folder), ...discoverFolder('global', join(folder, 'plugins'))],
    virtualModules: async () => ({ 'newt-agent': { ...face, z }, zod: await import('zod') }),
    contain: true,
  });
  kernel.onFault((fault) => faults.push(fault));
  const time = stopwatch();
  await kernel.start();
  const answers = await work(kernel);
  const took = time();
  setTimeout(() => globalThis.bus.emit('news', 1), 1);
  while (faults.length < expected && time() < took + 10_000) await sleep(5);
  await sleep(30);
  const ticks = globalThis.seen;
  await sleep(60);
  const held = process.listenerCount('uncaughtException');
  const plugins = kernel.plugins();
  await kernel.dispose();
  const after = [process.exit, process.kill, process.on, globalThis.setTimeout, console.log];
  return {
    faults,
    plugins,
    answers,
    took,
    ticks: [ticks, globalThis.seen],
    // One of them is the kernel's own.
    listeners: [held - listening - 1, process.listenerCount('uncaughtException') - listening],
    restored: after.every((fn, at) => fn === before[at]),
    logBytes: sizeOf(join(folder, 'state', 'logs')),
  };
}

function host(folder: string) {
  const point: face.PointSpec = { name: 'jobs', itemName: /^.*$/, members: { run: { kind: 'call', deadline: 1_000, onFault: ({ plugin }) => `${plugin} failed` } } };
  const hooks = [
    hookSpec({ name: 'work.start', kind: 'series', deadline: 1_000 }),
    hookSpec({ name: 'work.trail', kind: 'waterfall', mode: 'sync' }),
  ];
  return candidateOf({ id: 'host', tier: 'builtin', setup: () => void (process.argv[5] === 'stray' && spawn('/nowhere/at/all')), defines: { hooks, points: [point as face.PointSpec<never>] } }, folder);
}

async function work(kernel: Kernel): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  await kernel.call('work.start', { n: 1 });
  answers['trail'] = kernel.call('work.trail', { trail: [] });
  for (const [name, { item }] of kernel.items('jobs')) answers[name] = await (item as { run(input: unknown): Promise<unknown> }).run({});
  return answers;
}

function sizeOf(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}

const [folder = '', expected, code] = process.argv.slice(2);
const told = await main(folder, Number(expected));
await new Promise((resolve) => process.send?.(told, resolve));
process.exit(Number(code));
