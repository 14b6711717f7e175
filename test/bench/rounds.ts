/** What one tool round costs beside its tool and its server: the loop alone. */
import { createPlace } from '../support/agent-process.ts';
import { startModelServer } from '../support/model-server.ts';
import type { Row } from './report.ts';

const rounds = 50;
const runs = 5;

export async function roundRows(): Promise<Row[]> {
  const perRound: number[] = [];
  for (let index = 0; index < runs; index += 1) {
    const server = await startModelServer((_, n) => (n < rounds ? { toolCalls: [{ name: 'tool_search', arguments: { query: 'nothing' } }] } : { text: 'done' }));
    const place = createPlace(server.url);
    await place.agent(['run', '--yes', '--max-rounds', String(rounds + 1), 'search']);
    const times = server.requests.map(({ at }) => at);
    const gaps = times.slice(1).map((at, i) => at - (times[i] ?? at));
    perRound.push(gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? NaN);
    await server.close();
    place.remove();
  }
  return [{ what: 'one tool round, request to request: loop, HTTP and scripted server together', value: perRound.sort((a, b) => a - b)[runs >> 1] ?? NaN, unit: 'ms', budget: 4 }];
}
