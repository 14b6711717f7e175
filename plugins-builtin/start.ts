/** How this start goes: with everything, or with built-in plugins alone; and that it is on record while it may die. */
import type { Candidate } from '../kernel/lifecycle.ts';
import type { HomePaths } from '../kernel/paths.ts';
import { noteBoot } from '../registry/boots.ts';
import { lockFile } from '../registry/lock.ts';
import { builtinsOnly, safeMode, safeModeLine } from '../registry/safe-mode.ts';

const flag = '--safe-mode';

/** The command line without `--safe-mode`, which may stand anywhere before `--`, and whether it was there. */
export function withoutSafeMode(argv: readonly string[]): { readonly argv: readonly string[]; readonly isSafe: boolean } {
  const end = argv.indexOf('--');
  const kept = argv.filter((word, at) => word !== flag || (end >= 0 && at > end));
  return { argv: kept, isSafe: kept.length < argv.length };
}

export interface StartPlace {
  readonly argv: readonly string[];
  /** Whether the person asked for built-in plugins alone. */
  readonly isSafe: boolean;
  readonly paths: HomePaths;
  readonly globalFile: string;
  readonly project: string | undefined;
  readonly candidates: readonly Candidate[];
  readonly disabled: readonly string[];
  readonly isTrusted: boolean;
}

export interface Start {
  readonly candidates: readonly Candidate[];
  /** What the person is told of it. */
  readonly lines: readonly string[];
  /** To be called with the exit code; that of a process which ends itself is heard without. */
  ended(code: number): void;
}

/** Costs two small operations on the disk where there are plugins that could bring the process down, else nothing. */
export function beginStart({ argv, isSafe, paths, globalFile, project, candidates, disabled, isTrusted }: StartPlace): Start {
  const safe = (lines: readonly string[]): Start => ({ candidates: builtinsOnly(candidates), lines, ended: () => undefined });
  // Who looks for the plugin that brings the process down must not be brought down by it.
  if (isSafe || (argv[0] === 'plugin' && argv[1] === 'bisect')) return safe([]);
  const running = candidates.filter(({ tier, manifest, problem }) => tier !== 'builtin' && !problem && !disabled.includes(manifest.id) && (tier !== 'project' || isTrusted));
  if (running.length === 0) return { candidates, lines: [], ended: () => undefined };
  const found = safeMode(paths.state, { candidates, files: [globalFile, lockFile(paths)], project, disabled });
  if (typeof found === 'object') return safe([safeModeLine(found, running)]);
  const boot = noteBoot(paths.state, argv[0] ?? '');
  const ended = (code: number): void => {
    process.off('exit', ended);
    boot.ended(code);
  };
  process.on('exit', ended);
  return { candidates, lines: found === 'over' ? ['safe mode is over: something changed since, so all plugins are tried again'] : [], ended };
}

/** Whether a command shows the notices of the kernel itself: with the others they are said before it runs. */
export function showsNotices(argv: readonly string[]): boolean {
  return argv[0] === 'run' || argv[0] === 'chat';
}
