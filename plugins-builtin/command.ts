/** What `dist/main.js` runs: the command line of this process. */
import { main } from './main.ts';

const code = await main(process.argv.slice(2));
// Pipes are asynchronous on some systems: what was printed must be out before the process is.
await new Promise<void>((resolve) => {
  process.stdout.write('', () => process.stderr.write('', () => resolve()));
});
process.exit(code);
