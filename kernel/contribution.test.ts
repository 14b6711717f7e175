import { expect, onTestFinished, test } from 'vitest';
import { boot, type Inline, type Stage } from '../test/support/boot.ts';
import type { PointSpec } from './contribution-spec.ts';
import type { PluginContext } from './plugin.ts';

interface Word {
  readonly text: string;
  say(): string;
}

const words: PointSpec<never> = {
  name: 'words',
  itemName: /^[a-z]{1,8}$/,
  check: (item: Word) => (typeof item.text === 'string' ? undefined : 'needs a text'),
  members: { say: { kind: 'call', deadline: 1_000 }, hint: { kind: 'call', optional: true }, slow: { kind: 'call', optional: true, deadline: () => NaN } },
} as PointSpec<never>;

const word = (text: string): Word => ({ text, say: () => text });
const host: Inline = { id: 'host', tier: 'builtin', defines: { points: [words] }, setup: () => ({ words: { yes: word('host') } }) };

async function stageOf(...plugins: Inline[]): Promise<Stage> {
  const stage = await boot([host, ...plugins]);
  onTestFinished(() => stage[Symbol.asyncDispose]());
  return stage;
}

const shown = (stage: Stage) => Object.fromEntries([...stage.kernel.items('words')].map(([name, { item }]) => [name, (item as unknown as Word).text]));
/** The context of a plugin that only keeps it. */
function keeping(id: string, tier: Inline['tier'], kept: { p?: PluginContext }): Inline {
  return { id, tier, setup: (p) => void (kept.p = p) };
}
const contribute = (p: PluginContext | undefined, name: string, item: unknown) => (p as unknown as { contribute(point: string, name: string, item: unknown): { dispose(): void } }).contribute('words', name, item);

test('the higher tier keeps the bare name, the others are named after their plugin, and that is told', async () => {
  const stage = await stageOf(
    { id: 'far', tier: 'npm', setup: () => ({ words: { yes: word('far'), own: word('far own'), no: word('far no') } }) },
    { id: 'near', tier: 'project', setup: () => ({ words: { yes: word('near'), no: word('near no') } }) },
  );
  expect(shown(stage)).toEqual({ yes: 'host', near__yes: 'near', far__yes: 'far', no: 'near no', far__no: 'far no', own: 'far own' });
  expect(stage.kernel.notices().sort()).toEqual([
    'plugin far: its words item "no" is called "far__no": near has that name',
    'plugin far: its words item "yes" is called "far__yes": host has that name',
    'plugin near: its words item "yes" is called "near__yes": host has that name',
  ]);
});

test('within a tier the lower id keeps the bare name, whoever came first', async () => {
  const kept: Record<string, { p?: PluginContext }> = { alpha: {}, beta: {} };
  const stage = await stageOf(keeping('alpha', 'global', kept['alpha'] ?? {}), keeping('beta', 'global', kept['beta'] ?? {}));
  contribute(kept['beta']?.p, 'no', word('beta'));
  expect(shown(stage)).toMatchObject({ no: 'beta' });
  contribute(kept['alpha']?.p, 'no', word('alpha'));
  expect(shown(stage)).toMatchObject({ no: 'alpha', beta__no: 'beta' });
});

test('removing the holder gives the bare name to the next', async () => {
  const near: { p?: PluginContext } = {};
  const stage = await stageOf(keeping('near', 'project', near), { id: 'far', tier: 'npm', setup: () => ({ words: { no: word('far') } }) });
  const held = contribute(near.p, 'no', word('near'));
  expect(shown(stage)).toEqual({ yes: 'host', no: 'near', far__no: 'far' });
  held.dispose();
  held.dispose();
  expect(shown(stage)).toEqual({ yes: 'host', no: 'far' });
  expect(stage.kernel.notices()).toEqual([]);
  expect(stage.plugin('near').contributes).toEqual([]);
});

test('what a reader holds still works after the fold has changed', async () => {
  const near: { p?: PluginContext } = {};
  const stage = await stageOf(keeping('near', 'project', near));
  contribute(near.p, 'no', word('near'));
  const item = stage.kernel.items('words').get('no')?.item as unknown as { say(input: unknown): Promise<string> };
  contribute(near.p, 'more', word('more'));
  expect(await item.say({})).toBe('near');
});

const malformed: readonly (readonly [what: string, name: string, item: unknown, problem: RegExp])[] = [
  ['a name that does not match', 'NO', word('x'), /"NO" is no name for words/],
  ['null', 'no', null, /words\/no is null, not an object/],
  ['a function', 'no', () => 1, /words\/no is function, not an object/],
  ['an item whose data the spec refuses', 'no', { say: () => '' }, /words\/no needs a text/],
  ['an item without a member', 'no', { text: 'x' }, /words\/no\.say is missing, not a function/],
  ['an item whose member is no function', 'no', { text: 'x', say: 'x' }, /words\/no\.say is string, not a function/],
  ['an item whose optional member is no function', 'no', { ...word('x'), hint: 1 }, /words\/no\.hint is number, not a function/],
  ['an item whose deadline is no number', 'no', { ...word('x'), slow: () => 1 }, /words\/no has a deadline that is no positive number/],
];

test.for(malformed)('%s is refused with the whole of its plugin', async ([, name, item, problem]) => {
  const stage = await stageOf({ id: 'bad', setup: () => ({ words: { fine: word('fine'), [name]: item } }) });
  expect(stage.plugin('bad').state).toBe('quarantined');
  expect(stage.faults).toMatchObject([{ plugin: 'bad', kind: 'setup', message: expect.stringMatching(problem) }]);
  expect(shown(stage)).toEqual({ yes: 'host' });
});
