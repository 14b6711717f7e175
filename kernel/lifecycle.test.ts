import { expect, test } from 'vitest';
import { KernelError } from './errors.ts';
import { type Candidate, PluginRecord, type PluginState, transition } from './lifecycle.ts';
import { complete } from './manifest.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const candidate: Candidate = { tier: 'global', path: '/p', entry: '/p/index.js', manifest: complete({}, 'one'), bare: false };

/** The table of the design: from each state to these, and to itself. */
const allowed: Readonly<Record<PluginState, readonly PluginState[]>> = {
  discovered: ['resolved', 'refused', 'quarantined', 'disposed'],
  resolved: ['activated', 'refused', 'quarantined', 'disposed'],
  activated: ['degraded', 'quarantined', 'resolved', 'disposed'],
  degraded: ['activated', 'quarantined', 'resolved', 'disposed'],
  quarantined: ['resolved', 'disposed'],
  refused: ['disposed'],
  disposed: [],
};
const states = Object.keys(allowed) as PluginState[];

test.for(states.flatMap((from) => states.map((to) => ({ from, to, may: from === to || allowed[from].includes(to) }))))('$from to $to: $may', ({ from, to, may }) => {
  const record = new PluginRecord(candidate, silent);
  record.state = from;
  if (may) {
    transition(record, to, 'because');
    expect(record).toMatchObject({ state: to, reason: 'because' });
  } else {
    expect(() => transition(record, to, 'because')).toThrow(expect.objectContaining({ code: 'TRANSITION' }) as KernelError);
    expect(record).toMatchObject({ state: from, reason: undefined });
  }
});

test('only a plugin that is activated or degraded runs', () => {
  const record = new PluginRecord(candidate, silent);
  expect(states.filter((state) => Object.assign(record, { state }).running)).toEqual(['activated', 'degraded']);
});
