/** `agent tour`, the first thing a newcomer runs: it must work on a machine with nothing set up. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPlace, type Finished, type Place } from '../support/agent-process.ts';

let place: Place;
let temporary: string;

beforeEach(() => {
  place = createPlace();
  temporary = join(place.root, 'tmp');
  mkdirSync(temporary);
});
afterEach(() => place.remove());

const tour = (env: NodeJS.ProcessEnv = {}): Promise<Finished> => place.agent(['tour'], { env: { TMPDIR: temporary, AGENT_HOME: undefined, ...env } });

const numbers = '0 1 1 2 3 5 8 13 21 34 55 89 144 233 377';

test('shows the tiers, the failures and the task, and leaves nothing behind', async () => {
  const done = await tour();
  expect(done, done.stderr).toMatchObject({ code: 0, signal: null });
  expect(done.ms).toBeLessThan(25_000);
  const shown = done.stdout + done.stderr;

  for (const [id, tier] of [['house-rules', 'project'], ['greeter', 'global'], ['word-count', 'npm'], ['agent', 'builtin']]) {
    expect(done.stdout).toMatch(new RegExp(`^${id}\\s.*\\b${tier}\\b.*\\b(activated|on demand)\\b`, 'm'));
  }
  const causes: Readonly<Record<string, string>> = {
    'throws-at-load': 'no settings file',
    'syntax-error': 'syntax-error.ts:2',
    'missing-package': 'a-package-nobody-installed',
    'exits-at-load': 'called process.exit(1)',
    'never-loads': 'did not finish loading',
    'broken-hook': 'this hook always throws',
    'broken-tools': 'Cannot read properties of undefined',
  };
  for (const [id, cause] of Object.entries(causes)) {
    const line = shown.split('\n').find((one) => one.includes(`plugin ${id}`) && one.includes(cause));
    expect(line, `${id}\n${shown}`).toMatch(/agent plugin (release|list)/);
  }
  expect(shown).toContain('did not settle within 1000 ms');
  expect(shown).toContain('Hello, Ada!');
  // It says of its model what it is.
  expect(shown.match(/scripted/g)?.length).toBeGreaterThanOrEqual(2);
  expect(shown).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);

  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(place.workspace)).toEqual([]);
  expect(leftovers()).toEqual([]);
});

test('really writes and runs the program: its numbers are in the log, and --keep keeps it', async () => {
  const done = await place.agent(['tour', '--keep'], { env: { TMPDIR: temporary } });
  expect(done.code).toBe(0);
  const [root = ''] = readdirSync(temporary);
  expect(done.stdout + done.stderr).toContain(join(temporary, root));
  const files = readdirSync(join(temporary, root), { recursive: true, encoding: 'utf8' });
  expect(files.some((name) => name.endsWith('numbers/fibonacci.py'))).toBe(true);
  const logs = files.filter((name) => name.endsWith('.jsonl')).map((name) => readFileSync(join(temporary, root, name), 'utf8'));
  const results = logs.join('').split('\n').filter((line) => line.includes('"tool.result"') && line.includes('"run_command"'));
  expect(results).toHaveLength(1);
  expect(results[0]).toContain(numbers);
});

describe('wherever it is started', () => {
  test('settings and plugins of the person and of the folder do not take part', async () => {
    place.plugins({ 'mine.ts': "throw new Error('mine is broken');\n" });
    place.write({ '.agent/plugins/theirs.ts': "throw new Error('theirs is broken');\n" });
    const done = await place.agent(['tour'], { env: { TMPDIR: temporary, AGENT_MODEL: 'nowhere/model', AGENT_REACT__ENABLED: 'false' } });
    expect(done.code).toBe(0);
    expect(done.stdout + done.stderr).not.toMatch(/mine is broken|theirs is broken|nowhere/);
  });

  test('without Python it says so, and ends well', async () => {
    const path = join(place.root, 'bin');
    mkdirSync(path);
    for (const name of ['sh', 'bash', 'env', 'ls', 'cat', 'uname']) {
      const real = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((file) => exists(file));
      if (real) symlinkSync(real, join(path, name));
    }
    symlinkSync(process.execPath, join(path, 'node'));
    const done = await tour({ PATH: path });
    expect(done, done.stderr).toMatchObject({ code: 0, signal: null });
    expect(done.stdout).toContain('Python is missing on this machine');
    expect(done.stdout).not.toContain(numbers);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

function exists(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

/** Processes that still run with our temporary folder in their environment. */
function leftovers(): string[] {
  if (!exists('/proc/self/environ')) return []; // only Linux tells
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${temporary}`) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')] : [];
      } catch {
        return []; // it ended meanwhile, or is another person's
      }
    });
}
