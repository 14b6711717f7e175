import { readdirSync, readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { createGuardian } from './guardian.ts';

/** The guardians that this process started. */
function guardians(): number[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isGuardian(name)).map(Number);
}

function isGuardian(pid: string): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(status) && !/^State:\s+Z/m.test(status) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('terminal=$rest');
  } catch {
    return false;
  }
}

/** No process has it: the kernel's ids are below. */
const nobody = 2 ** 30;

it('has one process for all, while there is something to guard', async () => {
  const guardian = createGuardian((reason) => expect.unreachable(reason));
  expect(guardians()).toEqual([]);
  const [first, second] = [guardian.guard(nobody), guardian.guard(nobody + 1)];
  expect(guardians()).toHaveLength(1);
  await first.dispose();
  await first.dispose();
  expect(guardians()).toHaveLength(1);
  await second.dispose();
  await vi.waitFor(() => expect(guardians()).toEqual([]), { timeout: 5_000 });
  await guardian.guard(nobody).dispose();
  await vi.waitFor(() => expect(guardians()).toEqual([]), { timeout: 5_000 });
});

it('is none for the groups that would be everybody', () => {
  const guardian = createGuardian((reason) => expect.unreachable(reason));
  for (const group of [1, 0, -1, Number.NaN]) guardian.guard(group);
  expect(guardians()).toEqual([]);
});

it('that cannot be started says so once, and keeps nobody from working', async () => {
  const failed = vi.fn<(reason: string) => void>();
  const guardian = createGuardian(failed, '/no/such/shell');
  const guards = [guardian.guard(nobody), guardian.guard(nobody + 1)];
  await vi.waitFor(() => expect(failed).toHaveBeenCalled(), { timeout: 5_000 });
  await guardian.guard(nobody + 2).dispose();
  for (const guard of guards) await guard.dispose();
  await new Promise((resolve) => setImmediate(resolve));
  expect(failed.mock.calls).toEqual([[expect.stringContaining('ENOENT')]]);
});

it('has no terminal to put back where the standard streams are none', async () => {
  const guardian = createGuardian((reason) => expect.unreachable(reason));
  await guardian.changing().dispose();
  expect(guardians()).toEqual([]);
});
