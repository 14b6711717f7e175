/**
 * A model server that stopped sending was counted against the plugin that spoke to it: the built-in
 * provider was off at every later start. A passed deadline of a stream is news of the world where its
 * spec says so (`late`).
 */
import { expect, test } from 'vitest';
import { ContributionTable } from '../../kernel/contribution.ts';
import type { PointSpec } from '../../kernel/contribution-spec.ts';
import { Sweeper } from '../../kernel/heal/deadline.ts';
import { type Fault, OperationalError } from '../../kernel/heal/fault.ts';
import { Provenance } from '../../kernel/heal/provenance.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

test.each([
  ['never answers', () => new Promise<never>(() => {})],
  ['never sends a part', () => new ReadableStream({ pull: () => new Promise(() => {}) })],
])('a source that %s is news, not a fault', async (_, open) => {
  const faults: unknown[] = [];
  const observer = {
    failed(...fault: unknown[]): Fault {
      faults.push(fault);
      throw new Error('no fault was expected');
    },
    clean() {},
  };
  const spec: PointSpec = {
    name: 'sources',
    itemName: /./,
    members: { open: { kind: 'stream', deadline: 60, late: (ms) => new OperationalError(`nothing for ${ms} ms`) } },
  };
  const table = new ContributionTable(spec, { provenance: new Provenance(), sweeper: new Sweeper(() => performance.now()) });
  table.add({ id: 'p', tier: 'builtin', log: silent }, 'one', { open }, observer);
  const item = table.items.get('one')?.item as unknown as { open(): Promise<ReadableStream> };
  const read = async () => (await item.open()).getReader().read();
  await expect(read()).rejects.toThrow('nothing for 60 ms');
  expect(faults).toEqual([]);
});
