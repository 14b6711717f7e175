/** Start-up with 0, 10 and 200 installed plugins, in one run, alternating; the caches are warm. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createPlace } from '../support/agent-process.ts';
import { installMany } from '../support/many-plugins.ts';
import { startModelServer } from '../support/model-server.ts';
import type { Row } from './report.ts';

const runs = 15;
const warmUps = 3;
const counts = [0, 10, 200];
const bin = fileURLToPath(new URL('../../plugins-builtin/bin.cjs', import.meta.url));

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;

export async function pluginRows(): Promise<Row[]> {
  const server = await startModelServer(() => ({ text: 'hello' }));
  const places = counts.map((count) => {
    const place = createPlace(server.url);
    if (count > 0) installMany(place, count);
    return { count, place, times: [] as number[], bytes: 0 };
  });
  for (let index = 0; index < runs + warmUps; index += 1) {
    for (const one of places) {
      const { place } = one;
      const env = { PATH: process.env['PATH'], HOME: place.root, AGENT_HOME: place.home, AGENT_BASE_URL: server.url, AGENT_MODEL: 'test' };
      const started = performance.timeOrigin + performance.now();
      const child = spawn(process.execPath, [bin, 'run', 'say hello'], { env, cwd: place.workspace, stdio: 'ignore' });
      const code = await new Promise((resolve) => child.once('close', resolve));
      if (code !== 0) throw new Error(`agent run ended with ${String(code)}`);
      const request = server.requests.at(-1);
      one.bytes = (request?.bytes.length ?? NaN) - Buffer.byteLength(JSON.stringify(request?.body.messages.at(-1) ?? ''));
      if (index >= warmUps) one.times.push((request?.at ?? NaN) - started);
    }
  }
  await server.close();
  const [none = NaN, ten = NaN, many = NaN] = places.map(({ times }) => median(times));
  const bytes = places.at(-1)?.bytes ?? NaN;
  for (const { place } of places) place.remove();
  process.stdout.write(`first request after ${none.toFixed(0)} ms with no plugin, ${ten.toFixed(0)} ms with 10, ${many.toFixed(0)} ms with 200\n`);
  return [
    { what: '10 installed plugins, start to first request, over none', value: ten / none, unit: '×', budget: 1.3 },
    { what: '200 installed plugins, start to first request, over none', value: many / none, unit: '×', budget: 1.3 },
    { what: 'first request with 200 plugins, without the user’s message', value: bytes / 1_000, unit: 'kB', budget: 8 },
  ];
}
