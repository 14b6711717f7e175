/** `agent plugin doctor` */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, type CommandIO, command, type Finding, isKernelError, kernelControl, type KernelControl, type Level, oneLine, type PluginContext, shellWord, shortPath, wrap } from 'newt-agent';
import { discoverPlugin } from '../kernel/discover.ts';
import { digestPlugin } from '../kernel/trust/digest.ts';
import { pluginsCheck, trustCheck } from './checks.ts';
import { count, textColumns } from './layout.ts';
import { type LockEntry, lockFile, readLock } from './lock.ts';
import { reporting } from './report.ts';

const marks: Readonly<Record<Level, string>> = { ok: '✓', info: '·', warn: '!', error: '✗' };
const maxText = 400;

/** What `agent doctor` says of plugins, and whether what was added is still what lies there; exit code 1 when a person is needed. */
export function doctorCommand(p: PluginContext): Command {
  return command({
    description: 'Check the plugins: how they fare, and whether what was added is still what lies there',
    options: [{ flags: '--json', description: 'Print JSON' }],
    examples: ['agent plugin doctor', "agent plugin doctor --json | jq '.findings[] | select(.level == \"error\")'"],
    run: reporting(async ({ options }, call) => {
      const { io } = call;
      const control = p.use(kernelControl);
      const place = { cwd: resolve(typeof options['cwd'] === 'string' ? options['cwd'] : '.') };
      const findings = [...(await pluginsCheck(p).run(place, call)), ...(await trustCheck(p).run(place, call)), ...addedFindings(control), ...faultFindings(control)];
      const isWell = findings.every(({ level }) => level !== 'error');
      if (options['json']) io.json({ ok: isWell, findings });
      else print(findings, io);
      return isWell ? 0 : 1;
    }),
  });
}

/** Whether what lies where the lock file says is what the person agreed to. What cannot be used at all is told with its state. */
function addedFindings({ paths }: KernelControl): Finding[] {
  let entries: [string, LockEntry][];
  try {
    entries = Object.entries(readLock(lockFile(paths)));
  } catch (error) {
    if (isKernelError(error)) return []; // The check of plugins tells of it.
    throw error;
  }
  const changed = entries.flatMap(([id, entry]): Finding[] => {
    // Whether a tree is what was installed is told by the check of plugins.
    if (entry.source !== 'link') return [];
    const { path, contentDigest } = entry;
    const found = existsSync(path) ? discoverPlugin('npm', path) : undefined;
    if (!found || found.problem) return [];
    try {
      if (digestPlugin(found.entry, found.bare ? undefined : found.path) === contentDigest) return [];
      return [{ level: 'info', what: 'lock', detail: `${id} is not what it was when you added it (${shortPath(path)})`, fix: `agent plugin add ${shellWord(path)}` }];
    } catch (error) {
      if (!isKernelError(error)) throw error;
      return [{ level: 'error', what: 'lock', detail: `${id}: ${error.message}`, fix: error.hint }];
    }
  });
  return entries.length > 0 && changed.length === 0 ? [{ level: 'ok', what: 'lock', detail: `${count(entries.length, 'plugin')} added, as agreed to` }] : changed;
}

/** Faults of plugins that run nevertheless. */
function faultFindings(control: KernelControl): Finding[] {
  return control.plugins().flatMap(({ id, state, tier }): Finding[] => {
    const faults = tier !== 'builtin' && state === 'activated' ? control.faultHistory(id).length : 0;
    return faults === 0 ? [] : [{ level: 'info', what: 'faults', detail: `${id} runs, and has ${count(faults, 'fault')} on record`, fix: `agent plugin faults ${id}` }];
  });
}

function print(findings: readonly Finding[], io: CommandIO): void {
  const { style } = io;
  const styles = { ok: style.green, info: style.dim, warn: style.yellow, error: style.red };
  const width = Math.max(...findings.map(({ what }) => what.length));
  const margin = ' '.repeat(width + 4);
  for (const { level, what, detail, fix } of findings) {
    const lines = [...wrap(oneLine(detail, maxText), textColumns(io) - margin.length), ...(fix === undefined ? [] : wrap(`→ ${oneLine(fix, maxText)}`, textColumns(io) - margin.length, 2).map(style.cyan))];
    io.print(`${styles[level](marks[level])} ${oneLine(what, width).padEnd(width)}  ${lines[0] ?? ''}`);
    for (const line of lines.slice(1)) io.print(margin + line);
  }
  const problems = findings.filter(({ level }) => level === 'error').length;
  io.print(problems === 0 ? `\n${style.green('All is well with the plugins.')}` : `\n${style.red(`${count(problems, 'problem')}: see →`)}`);
}
