/** The packages of the catalog, installed by name from the checkout, and from their packed tarballs. What is theirs alone is tested beside them. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readCatalog } from '../../registry/catalog.ts';
import { createPlace, type Place } from '../support/agent-process.ts';

const run = promisify(execFile);
const packages = fileURLToPath(new URL('../../registry/packages', import.meta.url));
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };

/** What a person would have to accept by name, beside saying yes. */
const accepted: Readonly<Record<string, readonly string[]>> = { grep: ['--accept', 'scripts,size'] };

describe.each(Object.entries(readCatalog()))('%s', (id, { package: name, folder, capabilities }) => {
  test.for(['by name', 'from its tarball'])('is installed %s, and its tools are there', { timeout: 240_000 }, async (way, { skip }) => {
    const place = createPlace();
    try {
      const source = way === 'by name' ? id : await packed(join(packages, folder), place);
      const added = await place.agent(['plugin', 'add', source, '--yes', ...(accepted[id] ?? [])], { deadline: 200_000 });
      if (/cannot be reached|gave no whole answer/.test(added.stderr)) return skip('the npm registry cannot be reached');
      expect(added.stderr).not.toContain('agent: ');
      expect(added).toMatchObject({ code: 0, stdout: `Added ${id} 0.1.0 (${name})\n` });
      // Loaded in the first start, and not in the second.
      for (const state of ['activated', 'resolved']) {
        const list = JSON.parse((await place.agent(['plugin', 'list', '--json'])).stdout) as { id: string; tier: string; state: string; contributes: string[]; capabilities: string[] }[];
        const found = list.find((one) => one.id === id);
        expect(found).toMatchObject({ tier: 'npm', state, capabilities });
        expect(found?.contributes.filter((one) => one.startsWith('tools/')).length).toBeGreaterThan(0);
      }
      expect((await place.agent(['plugin', 'doctor'])).code).toBe(0);
      expect((await place.agent(['plugin', 'remove', id, '--yes'])).code).toBe(0);
      expect(existsSync(join(place.home, 'data', 'plugins', id))).toBe(false);
      expect(readFileSync(join(place.home, 'data', 'agent-plugins.lock'), 'utf8')).not.toContain(name);
    } finally {
      place.remove();
    }
  });
});

async function packed(folder: string, place: Place): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', place.root], { cwd: folder, env });
  const [{ filename } = { filename: '' }] = JSON.parse(stdout) as { filename: string }[];
  return join(place.root, filename);
}
