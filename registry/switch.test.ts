/** `agent plugin enable` and `disable`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTrust } from '../kernel/trust/trust.ts';
import { boot, type Place, place } from './commands.testing.ts';

let at: Place;
beforeEach(() => {
  at = place();
  at.plugin('home/config/plugins/base', { id: 'base' });
  at.plugin('home/config/plugins/middle', { id: 'middle', requires: { plugins: { base: '*' } } });
  at.plugin('home/config/plugins/top', { id: 'top', requires: { plugins: { middle: '*' } } });
  at.plugin('home/config/plugins/guard', { id: 'guard', capabilities: ['gate:tool.gate'] }, "import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => ({ hooks: { 'tool.gate': () => undefined } }));\n");
});
afterEach(() => at.remove());

const config = (): string => readFileSync(join(at.paths.config, 'config.yaml'), 'utf8');
const ids = (...id: string[]) => ({ arguments: { id } });

describe('plugin disable', () => {
  it('writes a list where there is none, and says who else does not run', async () => {
    await using agent = await boot(at);
    const { code, out, err } = await agent.run('plugin disable', ids('base'));
    expect([code, err]).toEqual([0, '⚠ middle, top need base, and will not run without it']);
    expect(out).toContain('Turned off base in ');
    expect(config()).toContain('base');
    await using next = await boot(at);
    const states = Object.fromEntries(next.kernel.plugins().map(({ id, state }) => [id, state]));
    expect(states).toMatchObject({ base: 'refused', middle: 'refused', top: 'refused', guard: 'resolved' });
  });

  it('keeps the comments of the file and of the list, and what the list has', async () => {
    at.write('home/config/config.yaml', '# mine\nplugins:\n  disabled:\n    - old  # noisy\n    # the next one\n    - top\nrounds: 3 # few\n');
    await using agent = await boot(at);
    expect((await agent.run('plugin disable', ids('base', 'top', 'base'))).out.split('\n')).toEqual([expect.stringMatching(/^Turned off base in /), 'top is off already']);
    expect(config()).toBe('# mine\nplugins:\n  disabled:\n    - old # noisy\n    # the next one\n    - top\n    - base\nrounds: 3 # few\n');
  });

  it('says that a guard is off', async () => {
    await using agent = await boot(at);
    expect((await agent.run('plugin disable', ids('guard'))).err).toMatch(/^⚠ guard guards tool\.gate: without it/);
  });

  it('refuses what keeps the person from turning it on again, and ids nobody has', async () => {
    await using agent = await boot(at);
    expect(await agent.run('plugin disable', ids('base', 'gaurd'))).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "guard"?') as string });
    expect((await agent.run('plugin list', { options: { json: true } })).json).toBeDefined();
    expect(() => config()).toThrow();
  });

  it('JSON', async () => {
    await using agent = await boot(at);
    expect((await agent.run('plugin disable', { ...ids('middle'), options: { json: true } })).json).toEqual({ file: join(at.paths.config, 'config.yaml'), plugins: [{ id: 'middle', changed: true, off: true, gates: [], loses: ['top'] }], disabled: ['middle'] });
  });
});

describe('plugin enable', () => {
  it('takes one out and keeps the rest, with its comments', async () => {
    at.write('home/config/config.yaml', '# mine\nplugins:\n  disabled:\n    # loud\n    - base\n    - guard # too strict\n    - gone\n');
    await using agent = await boot(at);
    const { code, out } = await agent.run('plugin enable', ids('base', 'gone'));
    expect([code, out]).toEqual([0, expect.stringContaining('Turned on base, gone in ')]);
    expect(config()).toContain('# mine\n');
    expect(config()).toContain('- guard # too strict\n');
    expect(config()).not.toMatch(/base|gone/);
  });

  it('leaves no empty list behind', async () => {
    at.write('home/config/config.yaml', 'rounds: 3\nplugins:\n  disabled: [base]\n');
    await using agent = await boot(at);
    await agent.run('plugin enable', ids('base'));
    expect(config()).toBe('rounds: 3\n');
  });

  it('says what it needs and is off, what was not off, and suggests', async () => {
    at.write('home/config/config.yaml', 'plugins: { disabled: [base, middle] }\n');
    await using agent = await boot(at);
    expect((await agent.run('plugin enable', ids('middle'))).err).toBe('⚠ middle needs base, which is off: agent plugin enable base');
    expect((await agent.run('plugin enable', ids('guard'))).out).toBe('guard is not turned off');
    expect(await agent.run('plugin enable', ids('gaurd'))).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "guard"?') as string });
  });

  it('says when the project turns it off too, and does not answer that all is done', async () => {
    at.write('home/config/config.yaml', 'plugins: { disabled: [base] }\n');
    at.write('project/.agent/config.yaml', 'plugins:\n  disabled: [base]\n');
    const trust = openTrust(join(at.paths.config, 'trust.json'));
    trust.grant(at.project, trust.status(at.project).digest ?? '');
    await using agent = await boot(at, true);
    const { code, err } = await agent.run('plugin enable', ids('base'));
    expect(code).toBe(1);
    expect(err).toMatch(/^⚠ base stays off in this folder: .*project\/\.agent\/config\.yaml:2 turns it off too.*agent config unset plugins\.disabled --project$/);
    // The other way round: the whole list of the project counts.
    expect(await agent.run('plugin disable', ids('guard'))).toMatchObject({ code: 1, err: expect.stringContaining('guard stays on in this folder') as string });
  });
});
