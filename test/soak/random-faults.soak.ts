/**
 * A thousand random faults in one session of fifty rounds: it ends right, nothing is left behind. The faults are
 * drawn from a seed, which is printed; `SOAK_SEED` repeats a run. The model is a script, everything else is real.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChatRequest } from '../support/model-server.ts';
import { openStage } from '../support/stage.ts';

const rounds = 50;
const plugins = 220;
const wanted = 1_000;
const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 2 ** 31);

/** Fails in about every other call, each time in another way, and counts what it did in a file. */
const chaotic = (n: number, count: string, marker: string): string => `import { appendFileSync } from 'node:fs';
import { definePlugin } from 'newt-agent';
let state = ${(seed + n * 2_654_435_761) % 2 ** 31};
const random = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
let number = 0;
let p;
const ways = [
  () => { throw new Error('thrown ' + number); },
  () => { throw 'a string ' + number; },
  () => Promise.reject(new TypeError('rejected ' + number)),
  () => { void Promise.reject(new Error('floating ' + number)); },
  () => { setTimeout(() => { throw new Error('from a timer ' + number); }, 5); },
  () => { queueMicrotask(() => { throw new Error('from a microtask ' + number); }); },
  () => { process.exit(number); },
  () => undefined.nothing,
  () => 'not what this hook answers',
  () => ({ get name() { throw new Error('getter ' + number); } }),
  () => { const cycle = {}; cycle.self = cycle; return cycle; },
  async () => { await null; throw new RangeError('later ' + number); },
  () => { void p.exec('sleep', ['${marker}']).catch(() => {}); throw new Error('left a program ' + number); },
];
const chaos = (value) => {
  if (random() < 0.5) return value;
  number += 1;
  appendFileSync(${JSON.stringify(count)}, 'x');
  return ways[Math.floor(random() * ways.length)]();
};
export default definePlugin({ id: 'chaos-${n}', capabilities: ['exec'] }, (context) => {
  p = context;
  return { hooks: { 'turn.start': chaos, 'model.request': chaos, 'tool.before': chaos, 'tool.after': chaos, 'turn.end': chaos } };
});
`;

/** Works, and notes in a file how large the heap is when nothing in it is garbage. */
const good = (memory: string): string => `import { appendFileSync } from 'node:fs';
import { definePlugin, tool, z } from 'newt-agent';
let calls = 0;
const weigh = () => { globalThis.gc(); appendFileSync(${JSON.stringify(memory)}, process.memoryUsage().heapUsed + ' '); };
export default definePlugin({ id: 'a-good' }, () => ({ tools: { step: tool({ description: 'Works.', input: z.object({}), effect: 'read', run: () => (weigh(), \`step \${(calls += 1)}\`) }) } }));
`;

test(`${wanted} random faults in ${rounds} rounds, seed ${seed}`, async () => {
  const marker = String(1_000_000 + (seed % 1_000_000));
  await using on = await openStage((request: ChatRequest) => {
    const done = request.messages.filter(({ role }) => role === 'tool').length;
    return done < rounds ? { toolCalls: [{ name: 'use_tool', arguments: { name: 'step', args: {} } }] } : { text: 'all done' };
  });
  const count = join(on.place.root, 'count');
  const memory = join(on.place.root, 'memory');
  on.place.plugins({ 'a-good.ts': good(memory), ...Object.fromEntries(Array.from({ length: plugins }, (_, n) => [`chaos-${n}.ts`, chaotic(n, count, marker)])) });
  const done = await on.place.agent(['run', '--yes', '--max-rounds', '200', 'go'], { deadline: 15 * 60_000, env: { NODE_OPTIONS: '--expose-gc' } });
  const injected = readFileSync(count).length;
  process.stdout.write(`${injected} faults injected, ${(done.ms / 1_000).toFixed(1)} s, ${done.stderr.split('\n').length} lines told\n`);
  expect(done, done.stderr.slice(-2_000)).toMatchObject({ code: 0, signal: null, stdout: 'all done\n' });
  expect(injected).toBeGreaterThanOrEqual(wanted);
  const events = on.place.events();
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  const results = events.flatMap((event) => (event.type === 'tool.result' ? [event.data] : []));
  expect(results.map(({ text }) => text)).toEqual(Array.from({ length: rounds }, (_, n) => `step ${n + 1}`));
  expect(results.every(({ isError }) => !isError)).toBe(true);
  expect(events.at(-1)).toMatchObject({ type: 'stop', data: { code: 0 } });
  const heap = readFileSync(memory, 'utf8').trim().split(' ').map((bytes) => Number(bytes) / 1e6);
  const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
  // The first rounds load all that is loaded once.
  const [early, late] = [median(heap.slice(10, 20)), median(heap.slice(-10))];
  process.stdout.write(`heap in use: ${early.toFixed(1)} MB in rounds 11 to 20, ${late.toFixed(1)} MB in the last ten\n`);
  expect(late - early).toBeLessThan(10);
  const left = readdirSync(on.place.home, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(tmp|lock)$/.test(name) && !name.endsWith('package.lock'));
  expect(left).toEqual([]);
  const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  expect(stdout.split('\n').filter((line) => line.includes(on.place.root) || line.includes(`sleep ${marker}`))).toEqual([]);
});
