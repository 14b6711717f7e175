import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, boot, type Place, place, type RunOptions } from './commands.testing.ts';

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.remove());

async function trust(command: string, options: RunOptions = {}, isProject = true): Promise<Answer> {
  await using agent = await boot(at, isProject);
  return agent.run(`trust ${command}`, options);
}

function fillProject(): void {
  at.write('project/.agent/config.yaml', 'model: local/qwen\nrounds: 3\nplugins:\n  replaces: { words: other }\n');
  at.plugin('project/.agent/plugins/lint', { id: 'lint', capabilities: ['exec'] });
  at.write('project/.agent/plugins/greet.ts', '');
}

const covered = [
  '  files      4',
  '  2 plugins  greet: one file; it states what it needs in its code',
  '             lint: asks for exec (run programs)',
  '  1 setting  model = local/qwen',
];

describe('outside of a project', () => {
  it('there is nothing to trust', async () => {
    expect(await trust('status', {}, false)).toMatchObject({ code: 0, out: 'This folder belongs to no project with an .agent folder: there is nothing to trust.' });
    expect((await trust('status', { options: { json: true } }, false)).json).toMatchObject({ folder: null, status: 'nothing-to-trust', plugins: [], settings: [] });
    expect(await trust('grant', {}, false)).toMatchObject({ code: 2, err: expect.stringContaining('there is nothing to trust') });
    expect((await trust('revoke', {}, false)).code).toBe(2);
  });
});

describe('trust status', () => {
  it('shows what trust would cover, before it is given', async () => {
    fillProject();
    const { code, out, err } = await trust('status');
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([`${at.project} is not trusted`, ...covered]);
    expect(err).toContain('agent trust grant');
  });

  it('tells the same as JSON, also once it is trusted', async () => {
    fillProject();
    const content = { folder: at.project, files: 4, plugins: [{ id: 'greet' }, { id: 'lint', capabilities: ['exec'] }], settings: [{ key: 'model', value: 'local/qwen' }], warnings: [] };
    expect((await trust('status', { options: { json: true } })).json).toMatchObject({ ...content, status: 'untrusted', granted: null });
    await trust('grant');
    expect((await trust('status', { options: { json: true } })).json).toMatchObject({ ...content, status: 'trusted', granted: expect.stringMatching(/^\d{4}-/) });
  });

  it('says that the content has changed', async () => {
    fillProject();
    await trust('grant');
    at.write('project/.agent/plugins/new.ts', '');
    expect((await trust('status')).out).toMatch(/has changed since it was trusted on \d{4}-\d\d-\d\d/);
  });

  it('says why it cannot be trusted', async () => {
    fillProject();
    symlinkSync('/etc/hostname', join(at.project, 'out'));
    expect((await trust('status')).out).toContain('cannot be trusted: out is a link that leaves the folder');
    expect(await trust('grant')).toMatchObject({ code: 1, err: expect.stringContaining('out is a link that leaves the folder') });
  });

  it('names the project by the folder it was given', async () => {
    fillProject();
    expect((await trust('status', { options: { cwd: "it's here" } })).err).toContain("agent trust grant --cwd 'it'\\''s here'");
  });

  it('reports a plugin that could not run anyway', async () => {
    at.write('elsewhere.ts', '');
    at.write('project/.agent/plugins/leaky.ts', "import '../../../elsewhere.ts';");
    expect((await trust('status')).out).toMatch(/leaky, which cannot run: .*leaves/);
  });
});

describe('trust grant', () => {
  it('trusts what it shows, without a question, and takes effect at the next start', async () => {
    fillProject();
    const { code, out, questions } = await trust('grant');
    expect(code).toBe(0);
    expect(questions).toEqual([]);
    expect(out.split('\n')).toEqual([`Trusted ${at.project}`, ...covered]);
    expect((await trust('status')).out.split('\n').slice(1)).toEqual(covered);
    await using agent = await boot(at, true);
    expect(agent.kernel.plugins().find(({ id }) => id === 'lint')).toMatchObject({ state: 'resolved', tier: 'project' });
    expect((await agent.run('trust grant')).out).toBe(`${at.project} is trusted already.`);
  });

  it('has nothing to do where the folder is empty', async () => {
    const file = at.write('project/.agent/x', '');
    writeFileSync(file, '');
    await using agent = await boot(at, true);
    at.remove();
    expect(await agent.run('trust grant')).toMatchObject({ code: 2, err: expect.stringContaining('holds no files') });
  });
});

describe('trust revoke', () => {
  it('takes it back, once', async () => {
    fillProject();
    await trust('grant');
    expect(await trust('revoke')).toMatchObject({ code: 0, out: `Revoked trust in ${at.project}` });
    expect((await trust('status')).out).toContain('is not trusted');
    expect(await trust('revoke')).toMatchObject({ code: 0, out: `${at.project} is not trusted.` });
  });
});
