/** `npm run bench`: every budget that can be measured today, as figures of one run. Exit code 1 when one is missed. */
import { buildOnce } from '../setup.ts';
import { faultRows } from './faults.ts';
import { hookRows } from './hooks.ts';
import { pluginRows } from './plugins.ts';
import { printRows } from './report.ts';
import { roundRows } from './rounds.ts';
import { startRows } from './start.ts';

buildOnce();
const rows = [...(await hookRows()), ...(await faultRows()), ...(await startRows()), ...(await pluginRows()), ...(await roundRows())];
process.exit(printRows(rows) ? 0 : 1);
