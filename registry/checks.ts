/** What `agent doctor` learns of plugins and trust. */
import { type Check, type Finding, kernelControl, type KernelControl, isKernelError, type PluginContext, type PluginInfo, shellWord, shortPath, type TrustControl, trustControl } from 'newt-agent';
import { deadBoots } from './boots.ts';
import { globalTarget, type InstallTarget, projectTarget } from './install/tree.ts';
import { treeProblem } from './installed.ts';
import { count } from './layout.ts';
import { readLock } from './lock.ts';
import { readSafeMode, safeModeReason } from './safe-mode.ts';

export function pluginsCheck(p: Pick<PluginContext, 'use'>): Check {
  return {
    description: 'plugins',
    run: () => pluginFindings(p.use(kernelControl), p.use(trustControl)),
  };
}

function pluginFindings(control: KernelControl, { trust, folder }: TrustControl): Finding[] {
  const plugins = control.plugins();
  const told = plugins.flatMap((plugin) => pluginFinding(plugin, control.faultHistory(plugin.id).length > 0));
  // A slot that is off in a plugin that runs.
  const slots = control.notices().flatMap((line): Finding[] => {
    const [, id = '', rest = ''] = /^plugin (\S+): (.* is (?:off since|called) .*)$/s.exec(line) ?? [];
    return id === '' ? [] : [{ level: 'warn', what: id, detail: rest, ...(rest.includes('off since') && { fix: `agent plugin release ${id}` }) }];
  });
  const isTrusted = folder !== undefined && trust.status(folder).status === 'trusted';
  const targets = [globalTarget(control.paths), ...(isTrusted ? [projectTarget(control.paths, folder)] : [])];
  const findings = [...startFindings(control), ...told, ...slots, ...targets.flatMap((target) => lockFindings(target, plugins))];
  const added = plugins.filter(({ tier }) => tier !== 'builtin').length;
  const well: Finding = { level: 'ok', what: 'plugins', detail: `${plugins.length - added} built in${added === 0 ? '' : `, ${added} added`}` };
  return findings.some(({ level }) => level === 'error' || level === 'warn') ? findings : [well, ...findings];
}

function pluginFinding({ id, state, tier, path, reason = 'no reason given', excused }: PluginInfo, hasFaults: boolean): Finding[] {
  const more = hasFaults ? ` (agent plugin faults ${id} shows the code)` : '';
  const name = tier === 'builtin' ? id : `${id} (${shortPath(path)})`;
  if (state === 'quarantined') return [{ level: 'error', what: 'plugin', detail: `${name} is in quarantine: ${reason}${more}`, fix: `agent plugin release ${id}` }];
  if (state === 'degraded') return [{ level: 'warn', what: 'plugin', detail: `${name} is degraded: ${reason}${more}`, fix: `agent plugin release ${id}` }];
  if (state !== 'refused') return [];
  if (reason === safeModeReason) return excused ? [] : [{ level: 'error', what: 'plugin', detail: `${name} is off in safe mode: what it guards is denied`, fix: 'agent plugin release --all' }];
  const [problem = '', fix] = reason.split('. To fix it: ');
  if (excused) return [{ level: fix === undefined ? 'info' : 'warn', what: 'plugin', detail: `${name} does not run: ${problem}`, ...(fix !== undefined && { fix }) }];
  return [{ level: 'error', what: 'plugin', detail: `${name} was refused: ${problem}`, fix: fix ?? 'agent plugin list' }];
}

/** Starts that died, and what came of it. */
function startFindings({ paths }: KernelControl): Finding[] {
  const fix = 'agent plugin bisect -- <command> finds the plugin to blame; agent plugin release --all tries everything again';
  const safe = readSafeMode(paths.state);
  if (safe) return [{ level: 'error', what: 'safe mode', detail: `${safe.deaths.length} starts in a row died, so only built-in plugins run`, fix }];
  const dead = deadBoots(paths.state);
  return dead.length === 0 ? [] : [{ level: 'warn', what: 'starts', detail: `${count(dead.length, 'start')} of the agent died within a minute; after three only built-in plugins run`, fix }];
}

/** A lock file that cannot be read, and trees whose files were changed. One that is missing is told by the plugin. */
function lockFindings(target: InstallTarget, plugins: readonly PluginInfo[]): Finding[] {
  try {
    return Object.keys(readLock(target.lock)).flatMap((id): Finding[] => {
      const problem = plugins.some((plugin) => plugin.id === id && plugin.tier === 'npm' && plugin.state === 'refused') ? undefined : treeProblem(target, id);
      return problem ? [{ level: 'error', what: 'plugin', detail: `${id}: ${problem.reason}`, fix: problem.hint.replace(/^run: /, '') }] : [];
    });
  } catch (error) {
    if (!isKernelError(error)) throw error;
    return [{ level: 'error', what: 'plugins', detail: error.message, fix: error.hint }];
  }
}

export function trustCheck(p: Pick<PluginContext, 'use'>): Check {
  return {
    description: 'trust',
    run({ cwd }) {
      const { trust, folder } = p.use(trustControl);
      if (folder === undefined) return [{ level: 'ok', what: 'trust', detail: 'no project with an .agent folder here' }];
      const shown = shortPath(folder);
      const place = cwd === process.cwd() ? '' : ` --cwd ${shellWord(cwd)}`;
      try {
        const { status, reason } = trust.status(folder);
        if (status === 'trusted') return [{ level: 'ok', what: 'trust', detail: `${shown} is trusted` }];
        if (status === 'nothing-to-trust') return [{ level: 'ok', what: 'trust', detail: `${shown} is empty` }];
        const problem = status === 'changed' ? 'has changed since it was trusted' : `is not trusted${reason === undefined ? '' : ` (${reason})`}`;
        const fix = reason === undefined ? `agent trust status${place}, then: agent trust grant${place}` : 'correct that, or remove it';
        return [{ level: 'warn', what: 'trust', detail: `${shown} ${problem}: its plugins, and the settings that need trust, are left out`, fix }];
      } catch (error) {
        if (!isKernelError(error)) throw error;
        return [{ level: 'error', what: 'trust', detail: error.message, fix: error.hint }];
      }
    },
  };
}
