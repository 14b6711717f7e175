/** The policy as a table: effect × mode × what the call touches. */
import type { Access, Effect, GatedPath, GatedUse, PermissionMode, Verdict } from 'newt-agent';
import { describe, expect, test } from 'vitest';
import { judge } from './policy.ts';

const path = (access: Access, inWorkspace: boolean, inAgentFolder: boolean): GatedPath => ({
  given: inWorkspace ? 'a.txt' : '../out/a.txt',
  real: inWorkspace ? '/ws/a.txt' : '/out/a.txt',
  access,
  inWorkspace,
  inAgentFolder,
});
const kinds = {
  'no path': [],
  'reads inside': [path('read', true, false)],
  'writes inside': [path('write', true, false)],
  'reads .agent': [path('read', true, true)],
  'writes .agent': [path('write', true, true)],
  'reads outside': [path('read', false, false)],
  'writes outside': [path('write', false, false)],
  'reads an .agent outside': [path('read', false, true)],
  'one inside, one outside': [path('read', true, false), path('write', false, false)],
  'one inside, one in .agent': [path('write', true, false), path('write', true, true)],
} as const satisfies Record<string, readonly GatedPath[]>;
type Kind = keyof typeof kinds;
const effects: readonly Effect[] = ['read', 'write', 'exec', 'net'];
const modes: readonly PermissionMode[] = ['normal', 'auto'];

const use = (effect: Effect, paths: readonly GatedPath[]): GatedUse => ({ session: 's', call: 'c', name: 't', input: {}, effect, paths });
const alwaysAsked: readonly Kind[] = ['writes .agent', 'reads outside', 'writes outside', 'reads an .agent outside', 'one inside, one outside', 'one inside, one in .agent'];

/** Written down once more, not computed from the code. */
function expected(effect: Effect, mode: PermissionMode, kind: Kind): Verdict {
  if (alwaysAsked.includes(kind)) return 'ask';
  if (mode === 'auto') return 'allow';
  return effect === 'read' ? 'allow' : 'ask';
}

const table = effects.flatMap((effect) => modes.flatMap((mode) => (Object.keys(kinds) as Kind[]).map((kind) => ({ effect, mode, kind, verdict: expected(effect, mode, kind) }))));

test.each(table)('$effect, $mode, $kind: $verdict', ({ effect, mode, kind, verdict }) => {
  const decision = judge(use(effect, kinds[kind]), mode);
  expect(decision.verdict).toBe(verdict);
  expect(decision.reason).toMatch(/\S/);
});

describe('what is asked', () => {
  test('names what would be touched, and the rule that would allow it', () => {
    expect(judge(use('write', kinds['writes inside']), 'normal')).toEqual({ verdict: 'ask', reason: 'writes a.txt', rule: '--yes' });
    expect(judge(use('write', []), 'normal').reason).toBe('writes files');
    expect(judge(use('exec', []), 'normal')).toMatchObject({ reason: 'runs a command', rule: '--yes' });
    expect(judge(use('net', []), 'normal')).toMatchObject({ reason: 'uses the network', rule: '--yes' });
    expect(judge(use('read', kinds['reads outside']), 'auto')).toEqual({
      verdict: 'ask',
      reason: 'reads /out/a.txt, outside of the workspace',
      rule: `agent config set tools.paths '["/out"]'`,
    });
    expect(judge(use('write', kinds['writes .agent']), 'auto')).toEqual({ verdict: 'ask', reason: 'writes a.txt, which can change what the agent itself does' });
  });

  test('the most distrusted path is the one that is named', () => {
    expect(judge(use('write', kinds['one inside, one outside']), 'auto').reason).toContain('/out/a.txt');
  });

  test('a rule for a folder is one that config set takes, whatever the folder is called', () => {
    for (const folder of ['/', '/a b', '/with "quotes"', "/it's", '/back\\slash', '/new\nline']) {
      const at: GatedPath = { ...path('read', false, false), real: `${folder === '/' ? '' : folder}/f` };
      const { rule = '' } = judge(use('read', [at]), 'normal');
      const [, word = ''] = /^agent config set tools\.paths (.*)$/s.exec(rule) ?? [];
      expect(JSON.parse(shellValue(word))).toEqual([folder === '/' ? '/f' : folder]);
    }
  });
});

/** What a POSIX shell makes of one word of single-quoted pieces and escaped quotes. */
function shellValue(word: string): string {
  let value = '';
  for (const [, quoted, escaped, plain] of word.matchAll(/'([^']*)'|\\(.)|([^'\\\s]+)/gs)) value += quoted ?? escaped ?? plain ?? '';
  return value;
}

test('an effect nobody knows is denied', () => {
  expect(judge(use('fly' as Effect, []), 'auto').verdict).toBe('deny');
});
