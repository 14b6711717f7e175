/** Node, and the programs that some features use. */
import { dirname } from 'node:path';
import { type Check, describeError, type Finding, findProgram, type PluginContext } from 'newt-agent';

type Machine = Pick<PluginContext, 'exec' | 'env'>;

interface Program {
  readonly name: string;
  /** What one goes without. */
  readonly without: string;
  readonly level: 'info' | 'warn';
  readonly fix: string;
}

const programs: readonly Program[] = [
  { name: 'npm', level: 'warn', without: 'plugins cannot get the packages they need', fix: 'install npm; it comes with Node' },
  { name: 'git', level: 'warn', without: 'the agent cannot see or undo changes with git', fix: 'install git with the package manager of your system' },
];
const [needMajor, needMinor] = [22, 18];
/** Milliseconds a program may take to tell its version. */
const patience = 4_000;

export function programsCheck(p: Machine): Check {
  return {
    description: 'Node, npm, git',
    run: async ({ cwd }, { signal }) => [nodeFinding(process.versions.node), ...(await Promise.all(programs.map((program) => programFinding(p, program, cwd, signal))))],
  };
}

export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isFit = major > needMajor || (major === needMajor && minor >= needMinor);
  return isFit ? { level: 'ok', what: 'node', detail: version } : { level: 'error', what: 'node', detail: `${version} is too old`, fix: `install Node ${needMajor}.${needMinor} or newer` };
}

async function programFinding(p: Machine, { name, without, level, fix }: Program, cwd: string, signal: AbortSignal): Promise<Finding> {
  const file = findProgram(name, p.env('PATH') ?? '', cwd);
  if (file === undefined) return { level, what: name, detail: `not found in PATH: ${without}`, fix };
  try {
    // Not in the workspace, whose files could have a say.
    const version = await p.exec(file, ['--version'], { cwd: dirname(file), timeout: patience, signal });
    return { level: 'ok', what: name, detail: `${version.trim().replace(/^git version /, '')} (${file})` };
  } catch (error) {
    return { level, what: name, detail: `${file} does not run: ${describeError(error)}`, fix };
  }
}
