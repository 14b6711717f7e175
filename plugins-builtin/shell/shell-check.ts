/** What `agent doctor` learns of commands. */
import { dirname } from 'node:path';
import { type Check, describeError, type Finding, findProgram, type PluginContext } from 'newt-agent';
import { findShell } from './shell-program.ts';

type Machine = Pick<PluginContext, 'env' | 'exec'>;

const patience = 4_000;

/** @param allowExec `tools.allow_exec` */
export function shellCheck(p: Machine, allowExec: boolean): Check {
  return {
    description: 'the shell',
    async run({ cwd }, { signal }) {
      if (!allowExec) return [{ level: 'info', what: 'shell', detail: 'commands are turned off by tools.allow_exec', fix: 'agent config explain tools.allow_exec' }];
      return [shellFinding(p.env('PATH')), ...(process.platform === 'linux' ? [await bubblewrap(p, cwd, signal)] : [])];
    },
  };
}

function shellFinding(path: string | undefined): Finding {
  const { name, file } = findShell(process.platform, { ...process.env, PATH: path });
  if (name === 'sh') return { level: 'warn', what: 'shell', detail: 'no bash: commands run in sh, and what is written for bash fails', fix: 'install bash' };
  if (name === 'cmd') return { level: 'warn', what: 'shell', detail: `no PowerShell: commands run in ${file}`, fix: 'install PowerShell' };
  return { level: 'ok', what: 'shell', detail: name };
}

/** It is there, and this system lets it make a namespace: many containers do not. */
async function bubblewrap(p: Machine, cwd: string, signal: AbortSignal): Promise<Finding> {
  const what = 'bubblewrap';
  const file = findProgram('bwrap', p.env('PATH') ?? '', cwd);
  if (file === undefined) return { level: 'info', what, detail: 'not found in PATH: commands cannot be confined by it', fix: 'install bubblewrap with the package manager of your system' };
  try {
    await p.exec(file, ['--ro-bind', '/', '/', '--unshare-pid', '--', '/bin/sh', '-c', ':'], { cwd: dirname(file), timeout: patience, signal });
    return { level: 'ok', what, detail: `works (${file})` };
  } catch (error) {
    return { level: 'info', what, detail: `${file} is there, but this system does not let it work: ${describeError(error)}` };
  }
}
