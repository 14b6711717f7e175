/** A repository nobody trusts made every command hang: its sources and its configuration were looked at in more than linear time. */
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';

let place: Place;
afterEach(() => place.remove());

const filled = (size: number, unit: (n: number) => string): string => {
  const parts: string[] = [];
  for (let length = 0, n = 0; length < size; n += 1) length += parts[parts.push(unit(n)) - 1]?.length ?? 0;
  return parts.join('');
};

test.each([
  ['a source of comments', { '.agent/plugins/x.ts': filled(2_000_000, () => 'import/*') }],
  ['sources of imports', { '.agent/plugins/x.ts': filled(2_000_000, (n) => `import'./f${n}';`), '.agent/plugins/y.ts': filled(2_000_000, (n) => `import'p${n}';`) }],
  ['settings nobody knows', { '.agent/config.yaml': filled(120_000, (n) => `tempe${n}: 1\n`) }],
  ['settings that need trust', { '.agent/config.yaml': `plugins:\n  config:\n${filled(120_000, (n) => `    p${n}: 1\n`)}` }],
])('%s', async (_, files: Record<string, string>) => {
  place = createPlace();
  place.write(files);
  for (const command of [['plugin', 'list'], ['trust', 'status']]) {
    const { code, ms, stderr } = await place.agent(command);
    expect(code, stderr).toBe(0);
    expect(ms).toBeLessThan(15_000);
    // Not one line for each of them.
    expect(stderr.split('\n').length).toBeLessThan(20);
  }
});

test('a configuration too large to be meant is refused, and left out while it is untrusted', async () => {
  place = createPlace(undefined, undefined);
  place.write({ '.agent/config.yaml': `# ${'x'.repeat(130_000)}\n` });
  const list = await place.agent(['plugin', 'list']);
  expect(list.code).toBe(0);
  expect(await place.agent(['trust', 'grant'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/config\.yaml: cannot be read: it is larger than 128000 bytes/) });
});
