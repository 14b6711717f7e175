/** A stand-in for an agent that is killed while commands of it run in the folder of its first argument. */
import { commandGroups } from './command-groups.ts';
import { createGuardian } from './guardian.ts';
import { runProcess } from './run-process.ts';
import { findShell } from './shell-program.ts';

const cwd = process.argv[2] ?? '.';
const groups = commandGroups(createGuardian(console.error));
const shell = findShell();
const session = { id: 'session', cwd, memory: new Map<string, unknown>(), spillFolder: cwd };
const ignore = (): void => undefined;

async function run(command: string): Promise<void> {
  await runProcess({
    file: shell.file,
    args: shell.args(command),
    waits: shell.waits,
    cwd,
    env: process.env,
    limit: 60_000,
    signal: new AbortController().signal,
    onStart: (group) => groups.add(session, group),
    onOutput: ignore,
    onClose: ignore,
  });
}

await run('sleep 50 &');
await run('sleep 50; true');
