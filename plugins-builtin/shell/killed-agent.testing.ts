/** A stand-in for an agent that is killed while commands of it run in the folder of its first argument. */
import { commandGroups } from './command-groups.ts';
import { runProcess } from './run-process.ts';

const cwd = process.argv[2] ?? '.';
const groups = commandGroups();
const session = { id: 'session', cwd, memory: new Map<string, unknown>(), spillFolder: cwd };
const ignore = (): void => undefined;

async function run(command: string): Promise<void> {
  await runProcess({
    file: '/bin/sh',
    args: ['-c', command],
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
