/** Gates fail closed: who should guard and cannot denies, unless the person knows of it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { boot, type BootOptions, candidateOf, hookSpec, type Inline, type Stage, temporaryFolder } from '../test/support/boot.ts';
import type { Decision } from './decision.ts';
import { discoverFolder } from './discover.ts';

const gate = hookSpec({ name: 'may.it', kind: 'gate', fallback: { verdict: 'allow', reason: 'nobody minds' } });
const host: Inline = { id: 'host', tier: 'builtin', defines: { hooks: [gate] } };
const capable = { capabilities: ['gate:may.it'] };
const answering = (id: string, answer: unknown, more: Partial<Inline> = {}): Inline => ({ id, facts: capable, setup: () => ({ hooks: { 'may.it': () => answer } }), ...more });

async function stageOf(plugins: readonly Inline[], options?: BootOptions): Promise<Stage> {
  const stage = await boot(plugins, options);
  onTestFinished(() => stage[Symbol.asyncDispose]());
  return stage;
}

const asked = async (stage: Stage) => (await stage.kernel.call('may.it', {})) as Decision;

describe('the strictest answer holds', () => {
  const allow = { verdict: 'allow' };
  const ask = { verdict: 'ask', reason: 'sure?' };
  const deny = { verdict: 'deny', reason: 'no' };
  test.for([
    [[], { verdict: 'allow', reason: 'nobody minds' }],
    [[undefined, undefined], { verdict: 'allow', reason: 'nobody minds' }],
    [[allow, undefined], { verdict: 'allow', by: 'p0' }],
    [[allow, ask, allow], { ...ask, by: 'p1' }],
    [[deny, ask, allow], { ...deny, by: 'p0' }],
    [[allow, ask, deny], { ...deny, by: 'p2' }],
    [[ask, { verdict: 'ask', reason: 'really?' }], { ...ask, by: 'p0' }],
    [[deny, { verdict: 'constructor' }], { ...deny, by: 'p0' }],
    [[{ verdict: 'allow', by: 'somebody else' }], { verdict: 'allow', by: 'p0' }],
  ] as const)('%j', async ([answers, outcome]) => {
    expect(await asked(await stageOf([host, ...answers.map((answer, at) => answering(`p${at}`, answer))]))).toEqual(outcome);
  });
});

describe('a guard that is declared and not there denies, by name', () => {
  const cases: readonly (readonly [string, Inline, BootOptions?])[] = [
    ['throws in setup', answering('guard', undefined, { setup: () => { throw new Error('boom'); } })],
    ['was not started yet', answering('guard', undefined, { facts: { ...capable, activateOn: ['never'] } })],
    ['does not fit this version', answering('guard', undefined, { facts: { ...capable, engine: '^9.0.0' } })],
    ['needs what is not there', answering('guard', undefined, { facts: { ...capable, requires: { plugins: { gone: '*' } } } })],
    ['waits for a service', answering('guard', undefined, { facts: { ...capable, requires: { services: ['gone'] } } })],
  ];
  test.for(cases)('it %s', async ([, guard]) => {
    const decision = await asked(await stageOf([host, guard, answering('other', { verdict: 'allow' })]));
    expect(decision).toMatchObject({ verdict: 'deny', by: 'guard', reason: expect.stringMatching(/agent config set plugins\.disabled .*guard/) });
  });

  test('it was quarantined in an earlier run', async () => {
    const failing = answering('guard', undefined, { setup: () => { throw new Error('boom'); } });
    const first = await stageOf([host, failing]);
    await first.end();
    expect(await asked(await stageOf([host, failing], { folder: first.folder }))).toMatchObject({ verdict: 'deny', by: 'guard' });
  });

  const manifest = '{ "agent": { "capabilities": ["gate:may.it"] } }';
  const stageWith = async (files: Readonly<Record<string, string | Buffer>>) => {
    const folder = temporaryFolder();
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, 'global', name)), { recursive: true });
      writeFileSync(join(folder, 'global', name), content);
    }
    return stageOf([], { folder, candidates: [candidateOf(host, folder), ...discoverFolder('global', join(folder, 'global'))] });
  };
  test.for<[string, string | Buffer]>([
    ['ends early', manifest.slice(0, -5)],
    ['ends before it speaks of it', manifest.slice(0, 20)],
    ['is empty', ''],
    ['is UTF-16', Buffer.from(`\uFEFF${manifest}`, 'utf16le')],
    ['is all NULs', Buffer.alloc(100)],
    ['is null', 'null'],
    ['is a list', '[]'],
    ['holds a list', '{ "agent": [] }'],
    ['holds nothing', '{ "agent": null }'],
    ['escapes the name', '{ "agent": { "capabilities": ["gate:may\\u002eit"], "typo": 1 } }'],
    ['escapes the name and the key', '{ "agent": { "c\\u0061pabilitys": ["g\\u0061te:may.it"] } }'],
    ['has a name that is none', '{ "agent": { "capabilities": ["gate:may.it "] } }'],
  ])('its manifest %s', async ([, text]) => {
    const stage = await stageWith({ 'guard/package.json': text, 'guard/index.js': '' });
    expect(await asked(stage)).toMatchObject({ verdict: 'deny', by: 'guard', reason: expect.stringMatching(/package\.json.*plugins\.disabled '\["guard"\]'/) });
  });

  test('but what never guarded this is not missed', async () => {
    const stage = await stageWith({
      'notes/readme.md': '',
      'README.md': '',
      'typo/package.json': '{ "agent": { "capabilities": ["net"], "mian": "x.js" } }',
      'other/package.json': '{ "agent": { "capabilities": ["gate:may.other"], "typo": 1 } }',
      'lost/package.json': '{ "agent": { "main": "gone.js" } }',
    });
    expect(await asked(stage)).toEqual({ verdict: 'allow', reason: 'nobody minds' });
  });
});

describe('a guard is excused', () => {
  const guard = answering('guard', { verdict: 'deny' });
  test.for([
    ['that the person turned off', [guard], { disabled: ['guard'] }],
    ['of an untrusted project', [{ ...guard, tier: 'project' }], { untrusted: 'not trusted' }],
    ['that is shadowed', [{ ...guard, tier: 'npm' }, { id: 'guard', tier: 'global' }], {}],
    ['that was replaced', [{ ...guard, tier: 'builtin' }, { id: 'other' }], { replaces: { guard: 'other' } }],
  ] as const)('%s', async ([, plugins, options]) => {
    expect(await asked(await stageOf([host, ...(plugins as readonly Inline[])], options))).toEqual({ verdict: 'allow', reason: 'nobody minds' });
  });
});

describe('nobody guards unasked', () => {
  test('a tap without the capability refuses its plugin', async () => {
    const stage = await stageOf([host, answering('bad', { verdict: 'allow' }, { facts: {} })]);
    expect(stage.plugin('bad').state).toBe('quarantined');
    expect(stage.faults).toMatchObject([{ plugin: 'bad', message: expect.stringContaining('without the capability "gate:may.it"') }]);
    expect(stage.kernel.why('may.it')).toEqual([]);
  });

  test('nor does one that came before the gate was defined', async () => {
    const stage = await stageOf([
      answering('bad', { verdict: 'allow' }, { facts: {} }),
      answering('good', { verdict: 'ask' }),
      { id: 'late', facts: { activateOn: ['later'] }, defines: { hooks: [gate] } },
    ]);
    await stage.kernel.fire('later');
    expect(stage.kernel.why('may.it').map(({ plugin }) => plugin)).toEqual(['good']);
    expect(stage.faults.filter(({ plugin }) => plugin === 'bad').map(({ message }) => message)).toContainEqual(expect.stringContaining('gate:may.it'));
  });

  test('a bare file cannot guard', async () => {
    const stage = await stageOf([host, answering('bare', { verdict: 'allow' }, { bare: true })]);
    expect(stage.plugin('bare')).toMatchObject({ state: 'refused', reason: expect.stringContaining('a bare file cannot guard') });
    expect(stage.kernel.why('may.it')).toEqual([]);
  });

  test('a gate cannot be made synchronous', async () => {
    const stage = await stageOf([{ id: 'bad', defines: { hooks: [{ ...gate, mode: 'sync' }] } }]);
    expect(stage.faults).toMatchObject([{ plugin: 'bad', message: expect.stringContaining('synchronous gate') }]);
    expect(() => stage.kernel.call('may.it', {})).toThrow(/no hook "may\.it"/);
  });
});

test('a guard that waits for the gate itself is started by the first question', async () => {
  const stage = await stageOf([host, answering('guard', { verdict: 'ask', reason: 'sure?' }, { facts: { ...capable, activateOn: ['hook:may.it'] } })]);
  expect(stage.plugin('guard').state).toBe('resolved');
  expect(await asked(stage)).toEqual({ verdict: 'ask', reason: 'sure?', by: 'guard' });
});
