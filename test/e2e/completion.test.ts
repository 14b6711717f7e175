/** The scripts of `agent completion`, in the shells they are for. */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';

const bin = fileURLToPath(new URL('../../plugins-builtin/bin.cjs', import.meta.url));
const run = promisify(execFile);
const patience = 20_000;

let place: Place;
let env: NodeJS.ProcessEnv;
const marker = (): string => join(place.root, 'ran');

beforeAll(async () => {
  place = createPlace();
  const programs = join(place.root, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'agent'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
  chmodSync(join(programs, 'agent'), 0o755);
  env = { PATH: `${programs}${delimiter}${process.env['PATH']}`, HOME: place.root, AGENT_HOME: place.home, LANG: 'C.UTF-8', TERM: 'xterm' };
  const evil = `require('node:fs').writeFileSync(${JSON.stringify(marker())}, '');\n`;
  place.write({ '.agent/plugins/foreign.cjs': evil, 'folder/inside.txt': '', 'file.txt': '' });
  // A word of a plugin that a shell would run, if it got so far.
  place.plugins({ 'odd.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'odd' }, () => ({ commands: { odd: { description: \"It's $(touch ran) `touch ran` : \\\\ odd\", options: [{ flags: '--well, --$(touch${IFS}ran) <x>', description: '' }], arguments: [{ name: 'what', description: '', values: ['plain', '$(touch ran)', '`touch`'] }], run: () => 0 } } }));\n" });
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await place.agent(['completion', shell]);
    expect(code, stderr).toBe(0);
    writeFileSync(join(place.root, `script.${shell}`), stdout);
  }
});
afterAll(() => place.remove());

const probes: Readonly<Record<string, (words: readonly string[]) => Promise<string[]>>> = {
  async bash(words) {
    const script = 'source "$HOME/script.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _agent; printf "%s\\n" "${COMPREPLY[@]}"';
    return lines((await run('bash', ['--norc', '-c', script, 'bash', ...words], { env, cwd: place.workspace, timeout: patience })).stdout);
  },
  async fish(words) {
    const { stdout } = await run('fish', ['--no-config', '-c', 'source $HOME/script.fish; complete -C "$argv[1]"', words.join(' ')], { env, cwd: place.workspace, timeout: patience });
    return lines(stdout).map((line) => line.split('\t')[0] ?? '');
  },
  // zsh completes only where somebody types: in a terminal of its own, whose `compadd` notes what is offered.
  async zsh(words) {
    const out = join(place.root, 'offered');
    rmSync(out, { force: true });
    const script = `zmodload zsh/zpty
zpty z "OUT=\${(q)1} LINE=\${(q)2} zsh -f -i"
zpty -w z 'PROMPT=; autoload -Uz compinit; compinit -u -D; source $HOME/script.zsh
compadd() { if [[ " $* " == *" -"[OAD]" "* ]]; then builtin compadd "$@"; return; fi; local -a hits; builtin compadd -A hits "$@"; print -rl -- "\${hits[@]}" >> $OUT; builtin compadd "$@" }
probe() { BUFFER=$LINE; CURSOR=$#BUFFER; zle list-choices; print END >> $OUT; exit }
zle -N probe; bindkey "^T" probe; print READY'
zpty -r z seen '*READY*READY*'
zpty -w -n z $'\\x14'
repeat 300 { grep -q END $1 2>/dev/null && break; zpty -r -t z seen; sleep 0.05 }
zpty -d z`;
    await run('zsh', ['-f', '-c', script, 'zsh', out, words.join(' ')], { env, cwd: place.workspace, timeout: patience });
    const offered = lines(readFileSync(out, 'utf8'));
    expect(offered.at(-1)).toBe('END');
    return offered.slice(0, -1);
  },
};

describe.each(Object.keys(probes))('%s', (shell) => {
  const isThere = has(shell);
  const complete = async (...words: string[]): Promise<string[]> => [...new Set((await probes[shell]?.(['agent', ...words]))?.map((word) => word.replace(/\/$/, '')))].sort();

  test.skipIf(!isThere)(`commands, and what is below them${isThere ? '' : ` (skipped: ${shell} is not installed)`}`, async () => {
    expect(await complete('')).toEqual(['chat', 'completion', 'config', 'doctor', 'help', 'odd', 'plugin', 'run', 'tour', 'trust']);
    expect(await complete('co')).toEqual(['completion', 'config']);
    expect(await complete('config', 'un')).toEqual(['unset']);
  });

  test.skipIf(!isThere)('options', async () => {
    expect(await complete('run', '--m')).toEqual(['--max-rounds', '--model']);
    expect(await complete('config', 'explain', '--j')).toEqual(['--json']);
    expect(await complete('odd', '--w')).toEqual(['--well']);
  });

  test.skipIf(!isThere)('config keys, hooks, words, and the ids of plugins', async () => {
    expect(await complete('config', 'get', 'react.')).toEqual(['react.enabled', 'react.max_rounds']);
    expect(await complete('config', 'set', 'react.', '')).toEqual([]);
    expect(await complete('plugin', 'why', 'tool.g')).toEqual(['tool.gate']);
    expect(await complete('completion', '')).toEqual(['bash', 'fish', 'zsh']);
    expect(await complete('odd', '')).toEqual(['plain']);
    expect(await complete('plugin', 'release', 'fo')).toEqual(['foreign']);
    expect(await complete('plugin', 'release', '--cwd', '/', 'mo')).toEqual(['models']);
  });

  test.skipIf(!isThere)('folders and files', async () => {
    expect(await complete('run', '--cwd', 'f')).toEqual(['folder']);
    expect(await complete('run', 'look at', 'fi')).toEqual(['file.txt']);
    expect(await complete('plugin', 'add', 'f')).toEqual(['folder']);
  });

  test.skipIf(!isThere)('nothing ran that nobody trusts', () => {
    expect(existsSync(marker()) || existsSync(join(place.workspace, 'ran'))).toBe(false);
  });
});

test('a shell there is no script for', async () => {
  expect(await place.agent(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '', stderr: 'agent: there is no completion for "tcsh"\n  there is: bash, zsh, fish\n' });
  expect((await place.agent(['completion', '--help'])).stdout).toContain('agent completion fish > ~/.config/fish/completions/agent.fish');
});

test('what the scripts ask the agent is answered from folders alone', async () => {
  const { code, stdout } = await place.agent(['__complete', 'plugins']);
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['foreign', 'models', 'odd']));
  expect(existsSync(marker())).toBe(false);
});

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function has(shell: string): boolean {
  try {
    execFileSync(shell, ['-c', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
