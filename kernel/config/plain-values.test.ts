/** Plain words and numbers are read without the YAML parser: it must make no difference. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { loadConfig } from './load.ts';
import { composeConfig } from './schema.ts';

const schema = composeConfig({ text: z.string().optional(), either: z.union([z.string(), z.number(), z.boolean()]).optional() });
const folder = mkdtempSync(join(tmpdir(), 'plain-'));
const withFile = join(folder, 'config.yaml');
writeFileSync(withFile, 'plugins: {}\n');

test('the same value with and without the YAML parser', async () => {
  const word = fc.stringMatching(/^[A-Za-z0-9_./@:-]{1,12}$/);
  await fc.assert(
    fc.asyncProperty(fc.oneof(word, fc.integer().map(String), fc.constantFrom('true', 'false', 'null', 'Null', 'NULL', 'True', 'TRUE', 'False', 'yes', 'no', '~', '007', '1e3', '.5', '-0', '1:30')), async (text) => {
      const read = async (global: string) => {
        const config = await loadConfig({ schema, paths: { global, empty: join(folder, 'empty') }, projectTrusted: false, env: { AGENT_TEXT: text, AGENT_EITHER: text } });
        return [config.values.text, config.values.either];
      };
      expect(await read(join(folder, 'absent.yaml'))).toEqual(await read(withFile));
    }),
  );
});
