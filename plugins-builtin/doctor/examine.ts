/** Runs the checks: all at once, each behind the deadline of its slot. */
import { type Check, type CheckPlace, describeError, FaultError, type Finding, type Item, oneLine } from 'newt-agent';

/** A finding, and whose it is. */
export interface Reported extends Finding {
  /** Name of the check. */
  readonly check: string;
  readonly plugin: string;
}

interface Examination {
  readonly signal: AbortSignal;
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
  /** Hears what is waited for. */
  readonly onWait: (text: string) => void;
}

const maxText = 400;
const mostFindings = 100;

/** All findings, the machine's first. A check that fails is a finding that names its plugin. */
export async function examine(checks: ReadonlyMap<string, Item<Check>>, place: CheckPlace, { signal, mask, onWait }: Examination): Promise<Reported[]> {
  const items = [...checks.values()].sort((a, b) => Number(b.plugin === 'doctor') - Number(a.plugin === 'doctor'));
  const waiting = new Set(items);
  const tell = (): void => {
    if (waiting.size > 0) onWait(`checking ${oneLine(Array.from(waiting, ({ item }) => item.description).join(', '), maxText)} …`);
  };
  tell();
  const clean = (text: string): string => oneLine(mask(text), maxText);
  const reports = await Promise.all(
    items.map(async ({ name, plugin, item }) => {
      const found = await item.run(place, { signal }).catch((error: unknown) => [failureOf(name, plugin, error)]);
      waiting.delete(items.find((one) => one.name === name) as Item<Check>);
      tell();
      return found.slice(0, mostFindings).map(({ level, what, detail, fix }): Reported => ({ check: name, plugin, level, what: clean(what), detail: clean(detail), ...(fix !== undefined && { fix: clean(fix) }) }));
    }),
  );
  return reports.flat();
}

function failureOf(name: string, plugin: string, error: unknown): Finding {
  const problem = error instanceof FaultError ? error.fault.message : describeError(error);
  return { level: 'error', what: name, detail: `the check of plugin ${plugin} failed: ${problem}`, fix: `agent plugin list shows how ${plugin} fares` };
}
