/** The parts of the doctor: what it finds, how it asks, how it tells. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, type CheckPlace, checksPoint, type CommandIO, type Item } from 'newt-agent';
import { expect, onTestFinished, test } from 'vitest';
import { homePaths } from '../../kernel/paths.ts';
import { boot, type Inline, temporaryFolder } from '../../test/support/boot.ts';
import { examine, type Reported } from './examine.ts';
import { diskFinding, folderFindings } from './folder-checks.ts';
import { nodeFinding } from './machine-checks.ts';
import { needsPerson, printReport } from './report.ts';
import { secretMask } from './secrets.ts';

const domain: Inline = { id: 'domain', tier: 'builtin', defines: { points: [checksPoint] as never } };

async function examined(checks: Readonly<Record<string, Partial<Check>>>, onWait: (text: string) => void = () => undefined, mask = (text: string) => text): Promise<Reported[]> {
  const plugins = Object.entries(checks).map(([id, check]): Inline => ({ id, setup: () => ({ checks: { [id]: { description: id, ...check } } }) }));
  await using stage = await boot([domain, ...plugins]);
  return await examine(stage.kernel.items('checks') as unknown as ReadonlyMap<string, Item<Check>>, { cwd: '/' } satisfies CheckPlace, { signal: new AbortController().signal, mask, onWait });
}

test('checks run side by side; one that throws, hangs or answers nonsense is a finding that names its plugin', async () => {
  const meeting: (() => void)[] = [];
  const meet = () => new Promise<[]>((resolve) => {
    meeting.push(() => resolve([]));
    if (meeting.length === 2) for (const go of meeting) go();
  });
  const found = await examined({
    one: { run: meet },
    two: { run: meet },
    throws: { run: () => Promise.reject(new Error('boom')) },
    hangs: { deadline: 0.05, run: () => new Promise(() => undefined) },
    odd: { run: () => [{ level: 'fatal' }] as never },
    well: { run: () => [{ level: 'ok', what: 'x', detail: 'fine' }] },
  });
  const of = (plugin: string) => found.filter((one) => one.plugin === plugin);
  expect(of('one')).toEqual([]);
  expect(of('throws')).toMatchObject([{ level: 'error', detail: expect.stringMatching(/the check of plugin throws failed: .*boom/) as string }]);
  expect(of('hangs')).toMatchObject([{ level: 'error', detail: expect.stringContaining('plugin hangs failed: did not settle within 50 ms') as string }]);
  expect(of('odd')).toMatchObject([{ level: 'error', detail: expect.stringContaining('plugin odd failed') as string }]);
  expect(of('well')).toMatchObject([{ level: 'ok', detail: 'fine' }]);
});

test('it says what it waits for, until nothing is left', async () => {
  const told: string[] = [];
  let go = (): void => undefined;
  const slow = new Promise<[]>((resolve) => (go = () => resolve([])));
  await examined({ slow: { description: 'the slow one', run: () => slow }, quick: { description: 'the quick one', run: () => [] } }, (text) => {
    told.push(text);
    if (told.length === 2) go();
  });
  expect(told[0]).toBe('checking the quick one, the slow one …');
  expect(told.at(-1)).toBe('checking the slow one …');
});

test('what plugins say cannot steer the terminal, and holds no secret', async () => {
  const mask = secretMask({ values: { providers: { lab: { base_url: 'http://u:pw123456@h', api_key: 'sk-from-config' } } } as never }, { LAB_TOKEN: 'from-the-environment', LAB_KEY: 'abc' });
  const [found] = await examined({ one: { run: () => [{ level: 'warn', what: 'x\u001b[31m', detail: 'refused sk-from-config, from-the-environment\nabc', fix: 'http://u:pw123456@h/x' }] } }, undefined, mask);
  expect(found).toMatchObject({ what: 'x', detail: 'refused ********, ******** abc', fix: 'http://u:********@h/x' });
});

test('at 80 columns no line is longer, and what to do stands under what is wrong', () => {
  const printed: string[] = [];
  const plain = (text: string): string => text;
  const io = { interactive: true, columns: 80, print: (text: string) => void printed.push(text), style: { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain } } as Partial<CommandIO> as CommandIO;
  const one = (level: Reported['level'], what: string, detail: string, fix?: string): Reported => ({ check: what, plugin: 'p', level, what, detail, ...(fix !== undefined && { fix }) });
  const report = [one('ok', 'node', '24'), one('warn', 'bubblewrap', 'word '.repeat(40).trim(), 'install it'), one('error', 'config', 'wrong', 'agent config unset a')];
  printReport(report, io);
  const lines = printed.join('\n').split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines[0]).toBe('✓ node        24');
  expect(lines.slice(-4)).toEqual(['✗ config      wrong', '              → agent config unset a', '', '1 problem, 1 warning: see →']);
  expect(needsPerson(report)).toBe(true);
  expect(needsPerson(report.slice(0, 2))).toBe(false);
});

test('folders: one that others can write to, a file in the place of one, a config that others read', () => {
  const root = temporaryFolder();
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const paths = homePaths({ AGENT_HOME: join(root, 'home') });
  expect(folderFindings(paths)).toMatchObject([{ level: 'ok' }]);
  mkdirSync(paths.config, { recursive: true });
  chmodSync(paths.config, 0o777);
  writeFileSync(paths.state, '');
  writeFileSync(join(paths.config, 'config.yaml'), '');
  chmodSync(join(paths.config, 'config.yaml'), 0o644);
  expect(folderFindings(paths)).toMatchObject([
    { level: 'error', what: 'config folder', fix: `chmod go-w ${paths.config}` },
    { level: 'error', what: 'state folder', detail: expect.stringContaining('is not a folder') as string },
    { level: 'info', what: 'config file', fix: `chmod 600 ${join(paths.config, 'config.yaml')}` },
  ]);
});

test.each([
  [10_000_000, 'error', '10 MB'],
  [300_000_000, 'warn', '300 MB'],
  [80_000_000_000, 'ok', '80.0 GB'],
])('%d bytes free: %s', (free, level, shown) => {
  expect(diskFinding(free, '~')).toMatchObject({ level, detail: `${shown} free for ~` });
});

test('Node', () => {
  expect(['22.18.0', '22.17.9', '24.0.0', '20.19.0'].map((version) => nodeFinding(version).level)).toEqual(['ok', 'error', 'ok', 'error']);
});
