/** What `agent plugin bisect` has found out so far, on disk: one that was killed goes on where it was. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'newt-agent';
import { writeAtomic } from '../kernel/atomic-write.ts';

const plugin = z.strictObject({
  id: z.string(),
  /** Another name it may be known by: a plugin of one module tells its id when it runs. */
  alias: z.string().optional(),
  tier: z.enum(['project', 'global', 'npm']),
  path: z.string(),
  version: z.string(),
  requires: z.array(z.string()),
});

const schema = z.strictObject({
  version: z.literal(1),
  command: z.array(z.string()).min(1),
  cwd: z.string(),
  timeout: z.number().positive(),
  begun: z.number(),
  /** In dependency order. */
  plugins: z.array(plugin),
  /** What was off before, and stays off in every run. */
  disabled: z.array(z.string()),
  runs: z.array(z.strictObject({ through: z.number().int().min(0), with: z.array(z.number().int().min(0)), verdict: z.enum(['good', 'bad', 'skip']), how: z.string(), ms: z.number() })),
  done: z.boolean(),
});

export type BisectState = z.infer<typeof schema>;
export type BisectPlugin = z.infer<typeof plugin>;

/** The folder of a search: its state, and the home its runs get. */
export function bisectFolder(state: string): string {
  return join(state, 'bisect');
}

/** Undefined where there is none, or one that cannot be used: it would begin anew. */
export function readBisect(state: string): BisectState | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(readFileSync(fileOf(state), 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** @throws KernelError `UNWRITABLE` */
export function writeBisect(state: string, bisect: BisectState): void {
  writeAtomic(fileOf(state), `${JSON.stringify(bisect, null, 1)}\n`);
}

export function forgetBisect(state: string): boolean {
  const had = readBisect(state) !== undefined;
  rmSync(fileOf(state), { force: true });
  return had;
}

function fileOf(state: string): string {
  return join(bisectFolder(state), 'state.json');
}
