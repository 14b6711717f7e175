/** From what the model announced to a call that may run: its arguments, the files it will use, the gate. */
import {
  type AnnouncedCall,
  checkInput,
  closest,
  describeError,
  faultCause,
  FaultError,
  type GatedPath,
  type GatedUse,
  isOperational,
  type Item,
  type Json,
  OperationalError,
  type Tool,
  type ToolCall,
  type Touch,
} from 'newt-agent';
import { parseArguments } from './model-turn.ts';
import { gatedPath, type RoundHost, toolCall } from './tool-call.ts';
import { useTool } from './tool-catalog.ts';
import type { ToolOutput } from './tool-output.ts';

/** What a call is about to use. */
export interface Footprint {
  readonly paths: readonly GatedPath[];
  /** Runs commands or writes files nobody named: keeps clear of all others. */
  readonly alone: boolean;
}

/** A call that passed the gate. */
export interface Ready extends Footprint {
  readonly call: AnnouncedCall;
  readonly entry: Item<Tool>;
  /** As its schema made it, which may be no JSON. */
  readonly input: unknown;
  /** As hooks see it. */
  readonly shown: Json;
  readonly output: ToolOutput;
}

export type Prepared = { readonly ready: Ready } | { readonly refused: string; readonly name: string; readonly call: AnnouncedCall };

export const cancelled = 'Cancelled before it ran.';
const shownArguments = 500;

/**
 * Finds out what a call is, and asks whether it may run.
 * @param clear waits for the earlier calls in the way of this one; answers whether there were any
 */
export async function prepare(host: RoundHost, announced: AnnouncedCall, output: ToolOutput, clear: (footprint: Footprint) => Promise<boolean>, signal: AbortSignal): Promise<Prepared> {
  const { p, log, session } = host;
  const refuse = (refused: string, name = announced.name): Prepared => ({ refused, name, call: announced });
  const parsed = parseArguments(announced.arguments);
  log.write('tool.call', { call: announced.id, name: announced.name, input: (parsed.value ?? announced.arguments) as never });
  if (parsed.problem !== undefined) {
    return refuse(`The arguments could not be read: ${parsed.problem}. They were: ${announced.arguments.slice(0, shownArguments)}\nNothing was run. Send valid JSON.`);
  }
  let use = { session: session.id, call: announced.id, name: announced.name, input: parsed.value ?? {} };
  if (use.name === useTool.name) {
    const wanted = useTool.input.safeParse(use.input);
    if (wanted.success && wanted.data.name !== useTool.name) use = { ...use, name: wanted.data.name, input: wanted.data.args };
  }
  try {
    // Taps may change what is called and with what; whose call it is stays.
    const { name, input: given } = (await p.call('tool.before', use, signal)) as typeof use;
    use = { ...use, name, input: given };
    await p.activate(`tool:${use.name}`);
    const entry = p.items('tools').get(use.name);
    if (!entry) return refuse(unknownTool(use.name, p.items('tools')), use.name);
    const checked = await checkInput(entry.item, use.input);
    if (!checked.ok) return refuse(`The arguments do not fit ${use.name}: ${checked.problem}\nNothing was run.`, use.name);
    const { input } = checked;
    const shown = asJson(input, use.input);
    const call = toolCall(host, announced.id, output, [], signal);
    let footprint = await footprintOf(host, entry, input, call);
    // What earlier calls did may have changed what is there: where a link leads, and what a preview shows.
    while (await clear(footprint)) footprint = await footprintOf(host, entry, input, call);
    if (signal.aborted) return refuse(cancelled, use.name);
    const { paths } = footprint;
    const gated: GatedUse = { ...use, ...(host.mode && { mode: host.mode }), input: structuredClone(shown), effect: entry.item.effect, paths };
    const refused = await judge(host, entry, input, gated, output, signal);
    if (refused !== undefined) return refuse(refused, use.name);
    return { ready: { call: announced, entry, input, shown, output, ...footprint } };
  } catch (error) {
    // Whatever it was: a call without a result would make the whole conversation invalid.
    if (signal.aborted) return refuse(cancelled, use.name);
    if (error instanceof FaultError || isOperational(error)) return refuse(failureText(error), use.name);
    return refuse(`It failed before it ran: ${describeError(error)}. Nothing was run.`, use.name);
  }
}

/** Far more than anybody could be asked about. */
const maxTouches = 1_000;

/** @throws OperationalError for more files than can be judged */
async function footprintOf(host: RoundHost, { item, name }: Item<Tool>, input: unknown, call: ToolCall): Promise<Footprint> {
  const touches = item.touches ? ((await item.touches(input as never, call)) as readonly Touch[]) : [];
  if (touches.length > maxTouches) throw new OperationalError(`${name} would use ${touches.length} files at once, and at most ${maxTouches} can be looked at. Nothing was run. Ask for fewer.`);
  const paths = await Promise.all(touches.map((touch) => gatedPath(host, touch)));
  return { paths, alone: item.effect === 'exec' || (item.effect === 'write' && paths.length === 0) };
}

/** Asks the gate, and the person where the gate says so. Answers why not, or undefined. */
async function judge(host: RoundHost, entry: Item<Tool>, input: unknown, use: GatedUse, output: ToolOutput, signal: AbortSignal): Promise<string | undefined> {
  const decision = await host.p.call('tool.gate', use, signal);
  if (decision.verdict === 'allow') return undefined;
  const reason = decision.reason ?? `${use.name} is not allowed`;
  if (decision.verdict === 'deny') return `Not allowed: ${reason}. Nothing was run.`;
  // What is asked about may be looked at, to show the person what would change.
  const preview = entry.item.preview ? await entry.item.preview(input as never, toolCall(host, use.call, output, use.paths, signal)) : undefined;
  const answer = await host.ask(
    { call: use.call, question: `Allow ${use.name}?`, reason, ...(decision.rule !== undefined && { rule: decision.rule }), ...(preview !== undefined && { preview }) },
    signal,
  );
  if (signal.aborted) return cancelled;
  if (answer) return undefined;
  if (answer === false) return 'The person said no. Nothing was run. Ask what they want instead, or find another way.';
  return `Not allowed: ${reason}, and nobody can be asked. Nothing was run.${decision.rule === undefined ? '' : ` The person can allow it with: ${decision.rule}`}`;
}

export function failureText(error: FaultError | OperationalError | Error): string {
  if (error instanceof FaultError) return `The plugin ${error.fault.plugin ?? ''} failed: ${faultCause(error.fault)}; ${error.fault.action}. Find another way, or tell the person.`;
  return error.message;
}

function unknownTool(name: string, tools: ReadonlyMap<string, unknown>): string {
  const near = closest(name, tools.keys());
  return `There is no tool "${name}".${near.length ? ` Did you mean ${near.join(' or ')}?` : ''} Nothing was run. tool_search finds more tools.`;
}

/** What a schema made of some arguments, for hooks, which take JSON alone; the arguments themselves where that cannot be. */
function asJson(made: unknown, given: Json): Json {
  try {
    return JSON.parse(JSON.stringify(made)) as Json;
  } catch {
    return given;
  }
}
