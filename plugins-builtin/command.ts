/** What `dist/main.js` runs: the command line of this process. */
import { constants } from 'node:os';
import { noteSigintHandle } from '../kernel/heal/sigint-handle.ts';
import { main } from './main.ts';
import { isDecided } from './public.ts';

// Whatever keeps the end of this file from being reached, it is no success.
process.exitCode = 1;

function decideOn(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void {
  process.on(name, () => {
    // A command that is at work listens as well, and decides. Before and after it, a signal ends the process
    // with the code a shell expects, rather than by the signal itself.
    if (!isDecided(name)) process.exit(128 + constants.signals[name]);
  });
}
noteSigintHandle(() => decideOn('SIGINT'));
decideOn('SIGTERM');
decideOn('SIGHUP');

/** Loaded by those that ask for it alone; what stands behind `--` is a word like any other. */
async function supervised(words: readonly string[]): Promise<number> {
  const { isSupervised, supervise } = await import('./supervise.ts');
  return isSupervised(words) ? supervise(words, process.env) : main(words);
}

if (process.env['AGENT_TETHER'] !== undefined) (await import('./tether.ts')).holdTether(process.env);
const argv = process.argv.slice(2);
const code = await (argv.includes('--supervised') ? supervised(argv) : main(argv)).catch((error: unknown) => {
  process.stderr.write(`agent: ${String(error)}\n`);
  return 1;
});
// Pipes are asynchronous on some systems: what was printed must be out before the process is.
await new Promise<void>((resolve) => {
  process.stdout.write('', () => process.stderr.write('', () => resolve()));
});
process.exit(code);
