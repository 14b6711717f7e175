/** Starts on record, and what three dead ones in a row lead to. Real processes that are killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { discoverFolder } from '../kernel/discover.ts';
import { deadBoots, noteBoot } from './boots.ts';
import { type Place, place } from './commands.testing.ts';
import { builtinsOnly, endSafeMode, readSafeMode, safeMode, safeModeLine, type Surroundings } from './safe-mode.ts';

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.remove());

const state = (): string => at.paths.state;

/** A process that notes its start and is killed. */
async function die(command = 'run', before = ''): Promise<void> {
  const code = `import { noteBoot } from ${JSON.stringify(join(import.meta.dirname, 'boots.ts'))};\nconst boot = noteBoot(${JSON.stringify(state())}, ${JSON.stringify(command)});\n${before}\nprocess.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--experimental-strip-types', '--no-warnings', '--input-type=module', '-e', code], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
}

const surroundings = (more: Partial<Surroundings> = {}): Surroundings => ({ candidates: discoverFolder('global', join(at.paths.config, 'plugins')), files: [join(at.paths.config, 'config.yaml'), at.lock], project: undefined, disabled: [], ...more });

describe('a start', () => {
  test('that lives is on record and not dead; one that ends well leaves nothing', () => {
    const boot = noteBoot(state(), 'run');
    expect(readdirSync(join(state(), 'boots'))).toHaveLength(1);
    expect(deadBoots(state())).toEqual([]);
    boot.ended(0);
    expect(readdirSync(join(state(), 'boots'))).toEqual([]);
  });

  test('that was killed is dead, and stays so until one of the same command ends well', async () => {
    await die('run');
    await die('run');
    expect(deadBoots(state())).toMatchObject([{ command: 'run' }, { command: 'run' }]);
    noteBoot(state(), 'plugin').ended(0);
    expect(deadBoots(state())).toHaveLength(2);
    noteBoot(state(), 'run').ended(1);
    expect(deadBoots(state())).toEqual([]);
  });

  test.each([[0, 0], [1, 0], [2, 0], [3, 0], [129, 0], [130, 0], [143, 0], [13, 1], [70, 1], [134, 1], [137, 1]])('that ends with %d leaves %d on record', (code, left) => {
    noteBoot(state(), 'run').ended(code);
    expect(readdirSync(join(state(), 'boots'))).toHaveLength(left);
  });

  test('that began before one that died does not make up for it', async () => {
    const long = noteBoot(state(), 'run');
    await die('run');
    long.ended(0);
    expect(deadBoots(state())).toHaveLength(1);
  });

  test('two at once stay out of each other\'s way', async () => {
    await Promise.all([die('run'), die('chat'), die('run')]);
    expect(deadBoots(state()).map(({ command }) => command).sort()).toEqual(['chat', 'run', 'run']);
  });

  test('on another machine with the same home is dead only when it is too old to live', () => {
    mkdirSync(join(state(), 'boots'), { recursive: true });
    writeFileSync(join(state(), 'boots', `1000000.00000000.${process.pid}..run`), '');
    expect(deadBoots(state(), 1_119_000)).toEqual([]);
    expect(deadBoots(state(), 1_121_000)).toMatchObject([{ command: 'run', at: 1_000_000 }]);
  });

  test('a disk that cannot be written, and names that are none of ours, are no reason to fail', () => {
    at.write('home/state', 'in the way');
    noteBoot(state(), 'run').ended(0);
    expect(deadBoots(state())).toEqual([]);
    const other = place();
    other.write('home/state/boots/README', '');
    expect(deadBoots(other.paths.state)).toEqual([]);
    noteBoot(other.paths.state, '../../x').ended(0);
    expect(readdirSync(join(other.paths.state, 'boots'))).toEqual(['README']);
    other.remove();
  });
});

describe('safe mode', () => {
  test('begins with the third that died, stays, and ends when something changed', async () => {
    at.plugin('home/config/plugins/one');
    for (let death = 0; death < 2; death += 1) await die();
    expect(safeMode(state(), surroundings())).toBeUndefined();
    await die();
    expect(safeMode(state(), surroundings())).toMatchObject({ deaths: [{ command: 'run' }, { command: 'run' }, { command: 'run' }] });
    expect(deadBoots(state())).toEqual([]);
    expect(safeMode(state(), surroundings())).toBeTypeOf('object');
    at.write('home/config/plugins/one/index.ts', '// mended\n');
    expect(safeMode(state(), surroundings())).toBe('over');
    expect(safeMode(state(), surroundings())).toBeUndefined();
  });

  test.each([
    ['a plugin was added', () => void at.plugin('home/config/plugins/two')],
    ['the configuration changed', () => void at.write('home/config/config.yaml', 'rounds: 3\n')],
    ['the lock changed', () => void at.write('home/data/agent-plugins.lock', '{"version":1,"plugins":{}}\n')],
  ])('ends when %s', async (_, change) => {
    at.plugin('home/config/plugins/one');
    for (let death = 0; death < 3; death += 1) await die();
    expect(safeMode(state(), surroundings())).toBeTypeOf('object');
    change();
    expect(safeMode(state(), surroundings())).toBe('over');
  });

  test('a change of the project ends it, another project does not; a damaged record is none', async () => {
    const project = join(at.root, 'project', '.agent');
    for (let death = 0; death < 3; death += 1) await die();
    expect(safeMode(state(), surroundings({ project }))).toBeTypeOf('object');
    expect(safeMode(state(), surroundings({ project: join(at.root, 'other'), disabled: ['x'] }))).toBeTypeOf('object');
    expect(safeMode(state(), surroundings())).toBeTypeOf('object');
    expect(safeMode(state(), surroundings({ project, disabled: ['x'] }))).toBe('over');
    for (let death = 0; death < 3; death += 1) await die();
    expect(safeMode(state(), surroundings())).toBeTypeOf('object');
    writeFileSync(join(state(), 'safe-mode.json'), '{"version":1');
    expect(readSafeMode(state())).toBeUndefined();
    expect(safeMode(state(), surroundings())).toBeUndefined();
  });

  test('the person ends it', async () => {
    expect(endSafeMode(state())).toBe(false);
    for (let death = 0; death < 3; death += 1) await die();
    expect(safeMode(state(), surroundings())).toBeTypeOf('object');
    expect(endSafeMode(state())).toBe(true);
    expect(existsSync(join(state(), 'safe-mode.json'))).toBe(false);
    expect(safeMode(state(), surroundings())).toBeUndefined();
  });

  test('guards are missed, the others excused; the line says who denies and what to do', () => {
    at.plugin('home/config/plugins/guard', { id: 'guard', capabilities: ['gate:tool.gate'] });
    at.plugin('home/config/plugins/plain', { id: 'plain' });
    const candidates = builtinsOnly(surroundings().candidates);
    expect(candidates.map(({ manifest, problem }) => [manifest.id, problem?.excused])).toEqual([['guard', false], ['plain', true]]);
    const line = safeModeLine({ since: 0, deaths: [1, 2, 3].map((one) => ({ command: 'run', at: one })) }, candidates);
    expect(line).toMatch(/^safe mode: 3 starts in a row died .*agent run.*guard guard cannot be asked.*denied\..*bisect -- <command>.*agent plugin disable <id>.*release --all$/);
  });
});
