/** Which shell runs a command, on which platform. */
import { accessSync, constants } from 'node:fs';
import { posix, win32 } from 'node:path';

export interface ShellProgram {
  /** What the model is told it writes for. */
  readonly name: string;
  readonly file: string;
  args(command: string): string[];
  /** Begins only after a line on descriptor 3. */
  readonly waits?: boolean;
  /** Windows: the arguments are quoted already. */
  readonly verbatim?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;
type IsProgram = (file: string) => boolean;

/**
 * The shell for commands: bash, else sh; on Windows PowerShell, else cmd. `$SHELL` has no say: what a
 * model writes is meant for bash, whatever the person likes to type in.
 */
export function findShell(platform: NodeJS.Platform = process.platform, env: Environment = process.env, isProgram: IsProgram = isExecutable): ShellProgram {
  return platform === 'win32' ? windowsShell(env, isProgram) : posixShell(env, isProgram);
}

const systemShell = '/bin/sh';

function posixShell(env: Environment, isProgram: IsProgram): ShellProgram {
  // A relative entry of PATH would let the workspace supply the shell.
  const folders = (env['PATH'] ?? '').split(':').filter((folder) => posix.isAbsolute(folder));
  const bash = [...folders, '/bin', '/usr/bin'].map((folder) => posix.join(folder, 'bash')).find(isProgram);
  return {
    name: bash ? 'bash' : 'sh',
    file: systemShell,
    waits: true,
    // Two pipes lose the order in which a program wrote to them, so both streams enter one pipe here,
    // before the shell starts. `--`: a command may begin with a dash.
    args: (command) => ['-c', 'read -r _ <&3 && exec "$0" -c -- "$1" 2>&1 3<&-', bash ?? systemShell, command],
  };
}

function windowsShell(env: Environment, isProgram: IsProgram): ShellProgram {
  const root = env['SystemRoot'] ?? 'C:\\Windows';
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(';').filter((folder) => win32.isAbsolute(folder));
  const candidates = [...folders.map((folder) => win32.join(folder, 'pwsh.exe')), win32.join(root, 'System32\\WindowsPowerShell\\v1.0\\powershell.exe')];
  const powerShell = candidates.find(isProgram);
  if (powerShell) {
    return {
      name: 'PowerShell',
      file: powerShell,
      // PowerShell itself answers 0 or 1, whatever the last program answered.
      args: (command) => ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', `${command}\nif ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }`],
    };
  }
  return { name: 'cmd', file: env['ComSpec'] ?? win32.join(root, 'System32\\cmd.exe'), args: (command) => ['/d', '/s', '/c', `"${command}"`], verbatim: true };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
