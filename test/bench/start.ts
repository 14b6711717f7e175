/** Start-up of the built command against `node -e 0`, in one run, alternating. */
import { spawn } from 'node:child_process';
import { createPlace, type Place } from '../support/agent-process.ts';
import { startModelServer } from '../support/model-server.ts';
import { fileURLToPath } from 'node:url';
import type { Row } from './report.ts';

const runs = 15;
const bin = fileURLToPath(new URL('../../plugins-builtin/bin.cjs', import.meta.url));

interface Sample {
  readonly ms: number;
  /** Peak resident memory of the process, in MB. */
  readonly rss: number;
}

/** Runs a command to its end; peak memory is read from the system's own account of it. */
function run(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<Sample & { started: number }> {
  return new Promise((resolve, reject) => {
    const started = performance.timeOrigin + performance.now();
    const child = spawn('/usr/bin/env', ['time', '-f', '%M', process.execPath, ...args], { env, cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', () => resolve({ started, ms: performance.timeOrigin + performance.now() - started, rss: Number(stderr.trim().split('\n').at(-1)) / 1024 }));
  });
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;

export async function startRows(): Promise<Row[]> {
  const server = await startModelServer(() => ({ text: 'hello' }));
  const place: Place = createPlace(server.url);
  const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'], HOME: place.root, AGENT_HOME: place.home, AGENT_BASE_URL: server.url, AGENT_MODEL: 'test' };
  const bare: Sample[] = [];
  const version: Sample[] = [];
  const whole: Sample[] = [];
  const toRequest: number[] = [];
  for (let index = 0; index < runs + 2; index += 1) {
    const samples = [await run(['-e', '0'], env, place.workspace), await run([bin, '--version'], env, place.workspace)] as const;
    const agent = await run([bin, 'run', 'say hello'], env, place.workspace);
    if (index < 2) continue; // the first ones fill the caches
    bare.push(samples[0]);
    version.push(samples[1]);
    whole.push(agent);
    toRequest.push((server.requests.at(-1)?.at ?? NaN) - agent.started);
  }
  const request = server.requests.at(-1);
  const fixed = (request?.bytes.length ?? NaN) - Buffer.byteLength(JSON.stringify(request?.body.messages.at(-1) ?? ''));
  await server.close();
  place.remove();
  const base = median(bare.map(({ ms }) => ms));
  const baseRss = median(bare.map(({ rss }) => rss));
  process.stdout.write(`node -e 0: ${base.toFixed(1)} ms, ${baseRss.toFixed(0)} MB; agent run: ${median(whole.map(({ ms }) => ms)).toFixed(0)} ms, ${median(whole.map(({ rss }) => rss)).toFixed(0)} MB, first request after ${median(toRequest).toFixed(0)} ms\n`);
  return [
    { what: 'agent --version over node -e 0', value: median(version.map(({ ms }) => ms)) / base, unit: '×', budget: 1.5 },
    { what: 'agent run, start to first model request, over node -e 0', value: median(toRequest) / base, unit: '×', budget: 5 },
    { what: 'agent run, peak memory, over node -e 0', value: median(whole.map(({ rss }) => rss)) / baseRss, unit: '×', budget: 2 },
    { what: 'first request without the user’s message', value: fixed / 1_000, unit: 'kB', budget: 8 },
  ];
}
