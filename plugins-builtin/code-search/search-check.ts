/** What `agent doctor` learns of code search. */
import { type Check, describeError, type PluginContext } from 'newt-agent';
import { findRipgrep } from './ripgrep.ts';

const fix = 'install ripgrep with the package manager of your system';

export function searchCheck(p: Pick<PluginContext, 'env' | 'exec'>): Check {
  return {
    description: 'ripgrep',
    async run({ cwd }, { signal }) {
      const program = await findRipgrep(p.env('PATH') ?? '', cwd);
      if (program === undefined) return [{ level: 'info', what: 'ripgrep', detail: 'not found in PATH: the built-in search is used, which is slower in large projects', fix }];
      try {
        const [version = ''] = (await p.exec(program, ['--no-config', '--version'], { timeout: 4_000, signal })).split('\n');
        return [{ level: 'ok', what: 'ripgrep', detail: `${version.replace(/^ripgrep /, '')} (${program})` }];
      } catch (error) {
        return [{ level: 'warn', what: 'ripgrep', detail: `${program} does not run, and searches fail: ${describeError(error)}`, fix: `reinstall ripgrep, or take ${program} out of PATH` }];
      }
    },
  };
}
