/** `npm run soak`: long proofs, run by hand before an issue is closed. */
import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const soak = mergeConfig(base, { root, test: { testTimeout: 20 * 60_000, reporters: ['verbose'] } });

export default { ...soak, test: { ...soak.test, include: ['test/soak/*.soak.ts'], maxWorkers: 1 } };
