/**
 * B11: a command is over, but the tool waits for whoever still holds its pipe. What is left running is named,
 * and gone when the agent is. The pieces: `plugins-builtin/shell/run-process.test.ts`.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

test.each(['sleep 25 & echo up', 'setsid sleep 25 & echo up', 'nohup sleep 25 & echo up', 'sleep 25 </dev/null >/dev/null & echo up'])('%s', async (command) => {
  await using on = await openStage(rounds(call('run_command', { command: `${command}; echo child=$!` })));
  const done = await on.run();
  expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(done.ms).toBeLessThan(15_000);
  const [answer] = on.answers();
  expect(answer?.isError).toBe(false);
  expect(answer?.text).toContain('up');
  expect(answer?.text).toMatch(/still run/i);
  const pid = Number(/child=(\d+)/.exec(answer?.text ?? '')?.[1]);
  expect(pid).toBeGreaterThan(0);
  await expect.poll(() => isRunning(pid), { timeout: 5_000 }).toBe(false);
});

/** A killed process that nobody has collected yet is no running one. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
