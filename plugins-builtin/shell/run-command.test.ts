import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childEnvironment } from './child-environment.ts';
import { runCommandTool } from './run-command.ts';
import { type Workspace, workspace } from './tool-call.testing.ts';

let place: Workspace;
beforeEach(() => {
  place = workspace();
});
afterEach(async () => {
  await place.remove();
  expect(place.processes()).toEqual([]);
});

describe('the result', () => {
  it('is the output and a last line with the exit code', async () => {
    const { text, isError, data } = await place.run({ command: 'echo hello' });
    expect(text).toMatch(/^hello\n\(exit code 0, \d+\.\d s\)$/);
    expect(isError).toBe(false);
    expect(data).toEqual({ exitCode: 0, signal: null, ms: expect.any(Number) });
  });

  it('says so when there is no output', async () => {
    expect((await place.run({ command: 'true' })).text).toMatch(/^\(no output, exit code 0, \d\.\d s\)$/);
  });

  it('marks a non-zero exit', async () => {
    const { text, isError, data } = await place.run({ command: 'echo no; exit 3' });
    expect(text).toMatch(/^no\n\(exit code 3, /);
    expect(isError).toBe(true);
    expect(data).toMatchObject({ exitCode: 3 });
  });

  it('names the signal that killed the command', async () => {
    const { text, data } = await place.run({ command: 'kill -KILL $$' });
    expect(text).toMatch(/^\(no output, killed by SIGKILL, /);
    expect(data).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
  });

  it('has both streams in the order in which they were written', async () => {
    const command = 'for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done';
    expect((await place.run({ command })).text).toMatch(/^out1\nerr1\nout2\nerr2\nout3\nerr3\nout4\nerr4\nout5\nerr5\n\(/);
  });
});

describe('the command', () => {
  it('reaches the shell untouched', async () => {
    const command = "cat <<'EOF'\nconst next = items[${index + 1}]; // it's `here` \"too\" \\n\nEOF\n";
    expect((await place.run({ command })).text).toContain('const next = items[${index + 1}]; // it\'s `here` "too" \\n\n');
  });

  it('may begin with a dash', async () => {
    expect((await place.run({ command: '-x 2>/dev/null; echo on' })).text).toMatch(/^on\n\(exit code 0/);
  });

  it.each([
    ['', 'empty'],
    [' \n', 'empty'],
    ['echo a\0b', 'NUL'],
  ])('%j is refused', async (command, why) => {
    const { text, isError } = await place.run({ command });
    expect(text).toContain(why);
    expect(text).toContain('nothing ran');
    expect(isError).toBe(true);
  });

  it('that is too long for the system is an observation', async () => {
    const { text, isError } = await place.run({ command: `: ${'x'.repeat(3_000_000)}` });
    expect(text).toMatch(/too long.*E2BIG/);
    expect(isError).toBe(true);
  });

  it('without its shell is an observation', async () => {
    const shell = { name: 'bash', file: '/nowhere/bash', args: (command: string) => ['-c', command] };
    const { text, isError } = await place.run({ command: 'true' }, { shell });
    expect(text).toMatch(/bash could not be started: no such program.*ENOENT.*nothing ran/);
    expect(isError).toBe(true);
  });

  it('does not run when the configuration forbids it', async () => {
    const { text, isError } = await place.run({ command: 'touch made' }, { allowExec: false });
    expect(text).toContain('tools.allow_exec');
    expect(isError).toBe(true);
    expect((await place.run({ command: 'ls' })).text).toContain('no output');
  });

  it('is what a person is shown beforehand', () => {
    const { preview } = runCommandTool({ timeout: 1, allowExec: true, groups: place.groups });
    expect(preview?.({ command: 'rm -r build' } as never, {} as never)).toBe('rm -r build');
  });
});

describe('the working folder', () => {
  it('is the workspace, or a folder in it', async () => {
    mkdirSync(join(place.session.cwd, 'sub'));
    expect((await place.run({ command: 'pwd' })).text).toContain(`${place.session.cwd}\n`);
    expect((await place.run({ command: 'pwd', cwd: 'sub' })).text).toContain(`${place.session.cwd}/sub\n`);
  });

  it.each(['missing', 'file', '..'])('cwd %s is an observation', async (cwd) => {
    writeFileSync(join(place.session.cwd, 'file'), '');
    await expect(place.run({ command: 'pwd', cwd })).rejects.toThrow(/no folder|outside/);
  });

  it('is never taken from $PWD', async () => {
    const before = process.env['PWD'];
    process.env['PWD'] = '/usr';
    try {
      const { text } = await place.run({ command: 'pwd; /usr/bin/env | grep ^PWD=; touch here; ls' });
      expect(text).toContain(`${place.session.cwd}\nPWD=${place.session.cwd}\nhere\n`);
    } finally {
      process.env['PWD'] = before;
    }
  });

  it('falls back to the nearest parent when it was deleted, and says so', async () => {
    await place.run({ command: `rm -r ${place.session.cwd}` });
    const { text, isError } = await place.run({ command: 'pwd' });
    expect(text).toContain(`the workspace folder ${place.session.cwd} no longer exists; ran in ${place.root} instead`);
    expect(text).toContain(`]\n${place.root}\n`);
    expect(isError).toBe(false);
    expect((await place.run({ command: 'cd / && pwd' })).text).toContain('\n/\n');
  });
});

describe('the environment', () => {
  it('has no secrets, and no agent configuration', async () => {
    const secrets = ['MY_API_KEY', 'github_token', 'DB_PASSWORD', 'AWS_SECRET', 'SOME_CREDENTIALS', 'AGENT_MODEL', 'LAB_AUTH', 'MY_PASSPHRASE', 'PGPASS', 'MYSQL_PWD', 'HTTP_AUTHORIZATION'];
    for (const name of secrets) process.env[name] = 'hidden';
    try {
      expect((await place.run({ command: 'env' })).text).not.toContain('hidden');
    } finally {
      for (const name of secrets) delete process.env[name];
    }
  });

  it('keeps what lets programs use a key without showing it', () => {
    const kept = { SSH_AUTH_SOCK: '/s', XAUTHORITY: '/x', GIT_AUTHOR_NAME: 'n', GIT_ASKPASS: '/a', PATH: '/bin' };
    expect(childEnvironment('/w', [], { ...kept, OLDPWD: '/b', PWD: '/b' })).toMatchObject({ ...kept, PWD: '/w' });
  });

  it('has nothing the configuration reads, under whatever name, but what programs need', () => {
    const parent = { LAB: 'hidden-value', SAME: 'hidden-value', HOME: '/home/me', WORK: '/home/me', ROUNDS: '7', CI: '7' };
    const child = childEnvironment('/w', ['LAB', 'HOME', 'ROUNDS', 'UNSET'], parent);
    expect(Object.keys(child).filter((name) => name in parent)).toEqual(['HOME', 'WORK', 'CI']);
  });
});

describe('a program that asks', () => {
  it.each([
    ['the terminal', 'read -r answer </dev/tty; echo "got=$answer"', /No such device/],
    ['standard input', 'read -r answer || echo "end of input"', /end of input/],
    ['through an editor', '$EDITOR file && $VISUAL file && echo edited', /edited/],
  ])('gets an answer at once: %s', async (_whom, command, expected) => {
    const { text, took } = await place.run({ command });
    expect(text).toMatch(expected);
    expect(took).toBeLessThan(2_000);
  });

  const git = 'git -c user.name=n -c user.email=e@example.org';

  it('git rebase --continue takes the message as it is', async () => {
    const { text } = await place.run({
      command: `git init -q -b main . && echo 1 >f && git add f && ${git} commit -qm one && git checkout -q -b side && echo 2 >f && ${git} commit -qam two &&
        git checkout -q main && echo 3 >f && ${git} commit -qam three && git checkout -q side;
        ${git} rebase main >/dev/null 2>&1; echo 23 >f; git add . && ${git} rebase --continue && git log --format=%s`,
    });
    expect(text).toContain('two\nthree\none\n');
  });

  it('git rebase -i does not rewrite history unasked', async () => {
    const { text, isError } = await place.run({
      command: `git init -q . && ${git} commit -q --allow-empty -m one && ${git} commit -q --allow-empty -m two && ${git} rebase -i HEAD~1`,
    });
    expect(text).toMatch(/editor/);
    expect(isError).toBe(true);
  });
});
