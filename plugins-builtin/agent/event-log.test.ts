/** The writer and the reader of a session's log: what is shown is on disk, whole, by one writer, whatever happens. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Event, eventJsonSchema, eventSchema, isKernelError, isOperational, z } from 'newt-agent';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sleep, temporaryFolder, until } from '../../test/support/boot.ts';
import { type EventLog, openEventLog } from './event-log.ts';
import { readEventLog } from './api/event-reader.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'sessions', 'a', 'log.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const opened = (listener: (event: Event) => void = () => undefined, at = file): EventLog => openEventLog(at, 's1', Date.now, listener);
const lockFile = (): string => `${file}.lock`;
const mode = (path: string): number => statSync(path).mode & 0o777;
const thrown = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

describe('records', () => {
  test('have no gap in seq, and each names the one before as its parent', () => {
    const log = opened();
    log.write('user', { text: 'go' });
    log.delta('text', 'a');
    log.write('round', { round: 1 });
    log.delta('reasoning', 'b');
    log.delta('text', 'c');
    log.close();
    const { events, torn } = readEventLog(file);
    expect(torn).toBe('');
    expect(events.map(({ type }) => type)).toEqual(['user', 'delta', 'round', 'delta', 'delta']);
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
    expect(events.map(({ parent }) => parent)).toEqual([null, ...events.slice(0, -1).map(({ id }) => id)]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(5);
  });

  test('are on the disk before anybody hears of them', () => {
    const seen: number[] = [];
    const log = opened((event) => {
      expect(readEventLog(file).events.at(-1)).toEqual(event);
      seen.push(event.seq);
    });
    for (let n = 0; n < 20; n += 1) {
      log.delta('text', `${n}`);
      log.write('notice', { level: 'info', text: 'x\ny\u2028\ud800' });
    }
    log.close();
    expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n));
  });

  test('come one to 50 ms while text streams, and none of the text is lost', async () => {
    const log = opened();
    const started = performance.now();
    let sent = '';
    while (performance.now() - started < 400) {
      for (let n = 0; n < 50; n += 1) {
        log.delta('text', `${n},`);
        sent += `${n},`;
      }
      await sleep(1);
    }
    const took = performance.now() - started;
    log.close();
    const { events } = readEventLog(file);
    expect(events.map((event) => (event.type === 'delta' ? event.data.text : '')).join('')).toBe(sent);
    expect(events.length).toBeLessThanOrEqual(Math.floor(took / 50) + 1);
    expect(events.length).toBeGreaterThan(1);
  });

  test('of streamed text are written without another record to push them', async () => {
    const heard: Event[] = [];
    const log = opened((event) => heard.push(event));
    log.delta('text', 'alone');
    expect(heard).toEqual([]);
    await until(() => heard.length > 0, 2_000);
    expect(heard[0]?.data).toEqual({ kind: 'text', text: 'alone' });
    log.close();
  });

  test('are not written any more after the end', async () => {
    const log = opened();
    log.write('user', { text: 'go' });
    log.close();
    log.close();
    log.write('user', { text: 'late' });
    log.delta('text', 'late');
    log.sync();
    await sleep(80);
    expect(readEventLog(file).events).toHaveLength(1);
  });

  test('are for their owner alone', () => {
    const log = opened();
    expect([mode(file), mode(lockFile()), mode(dirname(file))]).toEqual([0o600, 0o600, 0o700]);
    log.close();
  });
});

describe('one writer', () => {
  test('a second one is told who writes', () => {
    const log = opened();
    const error = thrown(() => opened());
    expect(isKernelError(error) && [error.code, error.message]).toEqual(['SECOND_WRITER', `${file} is being written by process ${process.pid}`]);
    log.write('user', { text: 'still mine' });
    log.close();
    expect(existsSync(lockFile())).toBe(false);
    opened().close();
  });

  test('another process that lives is named', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(lockFile(), JSON.stringify({ pid: child.pid }));
      expect((thrown(() => opened()) as Error).message).toContain(`process ${child.pid}`);
    } finally {
      child.kill('SIGKILL');
      await new Promise((over) => child.once('close', over));
    }
    opened().close();
  });

  const dead = (): number => Number(execFileSync(process.execPath, ['-e', 'console.log(process.pid)'], { encoding: 'utf8' }));
  test.each([
    ['of a dead process', () => JSON.stringify({ pid: dead(), started: '1' })],
    ['whose process id was used again', () => JSON.stringify({ pid: process.pid, started: '1' })],
    ['that is torn', () => '{"pid":'],
    ['that is empty', () => ''],
    ['of no process', () => '{"pid":"x"}'],
  ])('a lock %s is taken over', (_, content) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(lockFile(), content());
    const log = opened();
    expect(JSON.parse(readFileSync(lockFile(), 'utf8'))).toMatchObject({ pid: process.pid });
    log.close();
    expect(existsSync(lockFile())).toBe(false);
  });
});

describe('a log that cannot be written says so', () => {
  test('below a file', () => {
    writeFileSync(join(folder, 'sessions'), '');
    const error = thrown(() => opened());
    expect(isOperational(error) && [error.message, error.details['hint']]).toEqual([expect.stringContaining(`${file} cannot be written`), expect.stringContaining('AGENT_HOME')]);
  });

  test('where a folder has its name, and leaves no lock', () => {
    mkdirSync(file, { recursive: true });
    expect(isOperational(thrown(() => opened()))).toBe(true);
    expect(existsSync(lockFile())).toBe(false);
  });

  test.runIf(process.getuid?.() === 0 && canMount())('on a full disk: no record is half written, and it goes on when there is room', () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', disk]);
    const at = join(disk, 'log.jsonl');
    try {
      const log = opened(() => undefined, at);
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(64_000));
      let error: unknown;
      let written = 0;
      for (; written < 200 && !error; written += 1) error = errorOf(() => log.write('user', { text: 'x'.repeat(3_000) }));
      expect(isOperational(error) && error.message).toMatch(/cannot be written: ENOSPC/);
      expect(readEventLog(at)).toMatchObject({ torn: '', events: { length: written - 1 } });
      rmSync(join(disk, 'ballast'));
      log.write('user', { text: 'there is room again' });
      expect(readEventLog(at)).toMatchObject({ torn: '', events: { length: written } });
      writeFileSync(join(disk, 'more'), '');
      errorOf(() => writeFileSync(join(disk, 'more'), Buffer.alloc(200_000)));
      log.delta('text', 'x'.repeat(8_000));
      expect(isOperational(thrown(() => log.close()))).toBe(true);
      expect(readdirSync(disk)).not.toContain('log.jsonl.lock');
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  });
});

function errorOf(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

function canMount(): boolean {
  const at = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', at], { stdio: 'ignore' });
    execFileSync('umount', [at], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
}

test('whatever a crash leaves of a log, its whole records are read and the rest is told apart', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 30 });
  const step = fc.oneof(
    anyText.map((text) => (log: EventLog) => log.write('user', { text })),
    anyText.map((text) => (log: EventLog) => log.delta('text', text)),
    fc.json({ maxDepth: 2 }).map((json) => (log: EventLog) => log.write('tool.call', { call: 'c', name: 'n', input: JSON.parse(json) as never })),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
      const log = opened();
      for (const take of steps) take(log);
      log.close();
      const bytes = readFileSync(file);
      const { events } = readEventLog(file);
      const copy = join(folder, 'copy.jsonl');
      const schema = eventSchema();
      for (const event of events) schema.parse(event);
      for (let end = 0; end <= bytes.length; end += 1) {
        const prefix = bytes.subarray(0, end);
        writeFileSync(copy, prefix);
        const whole = prefix.lastIndexOf(10) + 1;
        const read = readEventLog(copy);
        expect(read.events).toEqual(events.slice(0, prefix.filter((byte) => byte === 10).length));
        expect(read.torn).toBe(prefix.subarray(whole).toString());
      }
      rmSync(file);
    }),
    { numRuns: 12 },
  );
});

test('nothing is read beyond a record that is damaged, repeated or missing', () => {
  const log = opened();
  for (let n = 0; n < 4; n += 1) log.write('round', { round: n });
  log.close();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  for (const damaged of [[lines[0], lines[2]], [lines[0], lines[0]], [lines[0], 'null', lines[1]], [lines[0], '{"v":2}', lines[1]], [lines[0], '', lines[1]]]) {
    writeFileSync(file, `${damaged.join('\n')}\n`);
    expect(readEventLog(file)).toEqual({ events: [JSON.parse(lines[0] ?? '')], torn: `${damaged.slice(1).join('\n')}\n` });
  }
});

test('the JSON Schema of a record takes what the schema takes, and refuses what it refuses', () => {
  const schema = eventJsonSchema() as Parameters<typeof z.fromJSONSchema>[0];
  expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  const read = z.fromJSONSchema(schema);
  const log = opened();
  log.write('user', { text: 'go' });
  log.write('tool.call', { call: 'c', name: 'n', input: { deep: [1, null, { x: 'y' }] } });
  log.write('tool.ask', { call: 'c', question: 'q', reason: 'r' });
  log.close();
  const { events } = readEventLog(file);
  for (const event of events) expect(read.safeParse(event).error).toBe(undefined);
  for (const wrong of [{ ...events[0], v: 2 }, { ...events[0], seq: -1 }, { ...events[0], type: 'unheard-of' }, { ...events[0], data: {} }]) {
    expect(read.safeParse(wrong).success).toBe(false);
    expect(eventSchema().safeParse(wrong).success).toBe(false);
  }
});
