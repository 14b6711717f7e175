/** One look at a plugin under development: it runs in a process of its own, and its types are checked beside it. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FaultRecord, isSecretName, oneLine } from 'newt-agent';
import { packageFolder } from './package-folder.ts';

export interface Examination {
  readonly id?: string;
  readonly version?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly contributes?: readonly string[];
  readonly faults?: readonly FaultRecord[];
  readonly chaos?: { readonly ok: boolean; readonly problems: readonly unknown[]; readonly text: string };
  /** Why there is no more to tell. */
  readonly problem?: string;
  /** What the type checker said, a line each; undefined where there is none. */
  readonly typeErrors?: readonly string[];
}

export interface ExaminationOptions {
  readonly chaos: boolean;
  readonly config: unknown;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const lookLimit = 30_000;
const chaosLimit = 60_000;
const typesLimit = 60_000;
const maxOutput = 4_000_000;
const maxTypeErrors = 50;

/** Never rejects: whatever becomes of the plugin's process is what was found. */
export async function examine(path: string, { chaos, config, env, signal }: ExaminationOptions): Promise<Examination> {
  const safe = Object.fromEntries(Object.entries(env).filter(([name]) => !isSecretName(name)));
  const [looked, typeErrors] = await Promise.all([look(path, { chaos, config, env: safe, signal }), checkTypes(path, safe, signal)]);
  return { ...looked, ...(typeErrors && { typeErrors }) };
}

/** Whether everything is as it should be. */
export function isWell({ state, faults = [], chaos, problem, typeErrors = [] }: Examination): boolean {
  return problem === undefined && state === 'activated' && faults.length === 0 && chaos?.ok !== false && typeErrors.length === 0;
}

async function look(path: string, { chaos, config, env, signal }: ExaminationOptions): Promise<Examination> {
  const limit = chaos ? chaosLimit : lookLimit;
  // A process that is killed cleans up nothing.
  const temporary = mkdtempSync(join(tmpdir(), 'newt-dev-'));
  const ended = await run([join(packageFolder(), 'dist', 'examine.js')], { cwd: path, env: { ...env, TMPDIR: temporary, TEMP: temporary, TMP: temporary }, limit, signal, input: JSON.stringify({ path, chaos, config: config ?? null }) });
  rmSync(temporary, { recursive: true, force: true });
  const line = ended.stdout.trimEnd().split('\n').at(-1) ?? '';
  if (ended.code === 0 && line.startsWith('{')) return JSON.parse(line) as Examination;
  const last = ended.stderr.trim().split('\n').slice(-5).map((said) => oneLine(said)).join('\n');
  const how = ended.isLate ? `it did not come to an end within ${limit / 1_000} s` : ended.code === 70 ? 'it blocked its process, and the watchdog ended it' : `its process ended with ${ended.signal ?? `the code ${ended.code ?? '?'}`}`;
  return { problem: `${how}${last ? `:\n${last}` : ''}` };
}

async function checkTypes(path: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const compiler = join(path, 'node_modules', 'typescript', 'bin', 'tsc');
  if (!existsSync(compiler) || !existsSync(join(path, 'tsconfig.json'))) return undefined;
  const { code, stdout, stderr, isLate } = await run([compiler, '-p', path, '--noEmit', '--pretty', 'false'], { cwd: path, env, limit: typesLimit, signal });
  if (code === 0 || signal.aborted) return [];
  if (isLate) return [`the type check did not end within ${typesLimit / 1_000} s`];
  return `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '').slice(0, maxTypeErrors).map((line) => oneLine(line, 500));
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly isLate: boolean;
}

/** Runs a module in a group of its own, which ends with it. What it prints beyond a bound is dropped. */
function run(args: readonly string[], { cwd, env, limit, signal, input = '' }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly limit: number; readonly signal: AbortSignal; readonly input?: string }): Promise<Ended> {
  const groups = process.platform !== 'win32';
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: groups });
    const output = { stdout: '', stderr: '' };
    let isLate = false;
    const kill = (): void => {
      if (child.pid === undefined) return;
      try {
        if (groups) process.kill(-child.pid, 'SIGKILL');
        else child.kill('SIGKILL');
      } catch {
        // They are gone already.
      }
    };
    const late = setTimeout(() => {
      isLate = true;
      kill();
    }, limit);
    // The person's Ctrl-C does not reach another group.
    process.on('exit', kill);
    signal.addEventListener('abort', kill, { once: true });
    if (signal.aborted) kill();
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => (output[name] = (output[name] + text).slice(-maxOutput)));
    }
    const finish = (code: number | null, killer: string | null): void => {
      clearTimeout(late);
      process.off('exit', kill);
      signal.removeEventListener('abort', kill);
      // What it left running goes as well.
      kill();
      resolve({ code, signal: killer, ...output, isLate });
    };
    child.once('error', (error) => {
      output.stderr += error.message;
      finish(null, null);
    });
    child.once('exit', () => setTimeout(kill, outputGrace).unref());
    child.once('close', finish);
    child.stdin.on('error', () => undefined).end(input);
  });
}

/** For output on its way when a process ends: one that it started may hold the pipes. */
const outputGrace = 200;
