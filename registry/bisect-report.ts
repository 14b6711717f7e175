/** What `agent plugin bisect` says: a line a run, and what the runs prove. */
import { type CommandIO, oneLine, printable, shellWord, shortPath, wrap } from 'newt-agent';
import { idsOn, mostRuns, type Outcome } from './bisect-search.ts';
import type { BisectPlugin, BisectState } from './bisect-state.ts';
import { count, factLines, textColumns } from './layout.ts';

const shownLines = 8;

/** `3 of at most 8: 16 of 64 plugins on …` */
export function progressLine(done: number, atMost: number, on: number, all: number): string {
  return `${done} of at most ${atMost}: ${on} of ${count(all, 'plugin')} on …`;
}

export function commandText(command: readonly string[]): string {
  return command.map(shellWord).join(' ');
}

/** @param tail the end of what the last run wrote */
export function printOutcome(outcome: Outcome, bisect: BisectState, tail: string, io: CommandIO): void {
  const { cyan, dim, bold } = io.style;
  const say = (text: string): void => {
    for (const line of wrap(text, textColumns(io))) io.print(line);
  };
  const shown = oneLine(commandText(bisect.command), 300);
  const plugin = (place: number): BisectPlugin => bisect.plugins[place] as BisectPlugin;
  switch (outcome.kind) {
    case 'good-with-all':
      say(`${shown} is good with all ${count(bisect.plugins.length, 'plugin')} on: there is nothing to search. It must fail in the way you look for, each time, and answer another exit code than 0 then.`);
      return printTail(tail, io);
    case 'bad-with-none':
      say(`${shown} is bad with no plugin on but the built-in ones: it is none of yours. See agent doctor.`);
      return printTail(tail, io);
    case 'cannot-tell':
      say(`${shown} answered 125, "cannot tell", with ${outcome.probe.through === 0 ? 'no plugin' : 'every plugin'} on, which all else rests on.`);
      return printTail(tail, io);
    case 'range':
    case 'partner-range': {
      say(bold(outcome.kind === 'range' ? `It is one of these ${count(outcome.places.length, 'plugin')}; the runs that would tell them apart could not:` : `${plugin(outcome.place).id} together with one of these; the runs that would tell them apart could not:`));
      for (const place of outcome.places) say(`  ${cyan(plugin(place).id)} ${dim(placeText(plugin(place)))}`);
      return;
    }
    case 'found': {
      const one = plugin(outcome.place);
      io.print(`${bold('Found:')} ${cyan(one.id)}`);
      const alone = outcome.alone === undefined ? `good without it, bad with it; whether it takes another one too was not tried: agent plugin bisect --pair` : idsOn(bisect.plugins, { through: 0, with: [outcome.place] }).size > 1 ? 'good without it, bad with it and what it requires alone' : 'good without it, bad with it alone';
      return printFacts([...factsOf(one), ['seen', alone]], io);
    }
    case 'pair': {
      const [one, other] = [plugin(outcome.place), plugin(outcome.partner)];
      io.print(`${bold('Found:')} ${cyan(one.id)} together with ${cyan(other.id)}`);
      const enough = outcome.enough === undefined ? 'each without the other is good; whether the two are enough could not be told' : outcome.enough ? 'bad with these two alone, good without either' : 'good without either; these two alone are good as well: it takes a third';
      return printFacts([...factsOf(one), ...factsOf(other), ['seen', enough]], io);
    }
  }
}

/** The outcome for programs. */
export function outcomeJson(outcome: Outcome, bisect: BisectState): object {
  const facts = (place: number): object => {
    const { id, tier, path, version } = bisect.plugins[place] as BisectPlugin;
    return { id, tier, path, version, faults: `agent plugin faults ${id}`, disable: `agent plugin disable ${id}` };
  };
  return {
    outcome: outcome.kind,
    culprit: 'place' in outcome ? facts(outcome.place) : null,
    partner: outcome.kind === 'pair' ? facts(outcome.partner) : null,
    alone: outcome.kind === 'found' ? (outcome.alone ?? null) : outcome.kind === 'pair' ? false : null,
    enough: outcome.kind === 'pair' ? (outcome.enough ?? null) : null,
    candidates: 'places' in outcome ? outcome.places.map(facts) : [],
    command: bisect.command,
    plugins: bisect.plugins.length,
    atMost: mostRuns(bisect.plugins.length),
    runs: bisect.runs.map((run) => ({ on: idsOn(bisect.plugins, run).size, verdict: run.verdict, how: run.how, ms: run.ms })),
  };
}

function factsOf({ id, tier, path }: BisectPlugin): [string, string][] {
  return [
    ['plugin', placeText({ tier, path })],
    ['its faults', `agent plugin faults ${id}`],
    ['turn it off', `agent plugin disable ${id}`],
  ];
}

function placeText({ tier, path }: Pick<BisectPlugin, 'tier' | 'path'>): string {
  return `${tier}, ${shortPath(path)}`;
}

function printFacts(facts: readonly [string, string][], io: CommandIO): void {
  for (const line of factLines(facts, { columns: textColumns(io), nameStyle: io.style.dim })) io.print(line);
}

/** The end of what the command wrote: why it answered what it did. */
function printTail(tail: string, io: CommandIO): void {
  const lines = printable(tail).split('\n').filter((line) => line.trim() !== '').slice(-shownLines);
  if (lines.length > 0) io.say(io.style.dim('The end of what it wrote:'));
  for (const line of lines) io.say(io.style.dim(`  ${oneLine(line, 300)}`));
}
