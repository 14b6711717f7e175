/**
 * The tool calls of one answer: prepared and gated one after the other in call order, run in parallel
 * where they do not touch the same files, answered in call order. Every announced call gets a result.
 */
import {
  type AnnouncedCall,
  checkInput,
  describeError,
  faultCause,
  FaultError,
  type GatedPath,
  type GatedUse,
  isOperational,
  type Item,
  type Json,
  OperationalError,
  type PermissionMode,
  type PluginContext,
  type Tool,
  type ToolCall,
  type ToolOutcome,
  type ToolResult,
  type ToolSession,
  type Touch,
} from 'newt-agent';
import type { Asker } from './asker.ts';
import type { EventLog } from './event-log.ts';
import { parseArguments } from './model-turn.ts';
import { fitResult } from './spill.ts';
import { taskDone, useTool } from './tool-catalog.ts';
import { contains, resolvePath, type Workspace } from './workspace.ts';

export interface RoundHost {
  readonly p: PluginContext;
  readonly log: EventLog;
  readonly workspace: Workspace;
  readonly session: ToolSession;
  readonly ask: Asker;
  /** What the person chose for this session. */
  readonly mode: PermissionMode | undefined;
  /** Milliseconds a tool may take that sets no limit of its own. */
  readonly timeout: number;
}

export interface CallResult {
  readonly call: AnnouncedCall;
  /** The tool that was meant, behind use_tool too. */
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  readonly data: Json | undefined;
  readonly images: NonNullable<ToolResult['images']>;
  /** Milliseconds it ran; 0 for a call that was not. */
  readonly ms: number;
}

/** A call that passed the gate. */
interface Ready {
  readonly call: AnnouncedCall;
  readonly entry: Item<Tool>;
  /** As its schema made it, which may be no JSON. */
  readonly input: unknown;
  /** As hooks see it. */
  readonly shown: Json;
  readonly paths: readonly GatedPath[];
  /** Runs commands or writes files nobody named: keeps clear of all others. */
  readonly alone: boolean;
}

type Prepared = { readonly ready: Ready } | { readonly refused: string; readonly name: string; readonly call: AnnouncedCall };

/** How long a tool that ignores its signal holds up a person who cancelled, in milliseconds. */
const cancelGrace = 3_000;
const shownArguments = 500;

export async function runCalls(host: RoundHost, calls: readonly AnnouncedCall[], signal: AbortSignal): Promise<CallResult[]> {
  const prepared: Prepared[] = [];
  for (const call of calls) {
    prepared.push(signal.aborted ? { refused: 'Cancelled before it ran.', name: call.name, call } : await prepare(host, call, signal));
  }
  const running: { ready: Ready; done: Promise<CallResult> }[] = [];
  const results = prepared.map((one) => {
    if (!('ready' in one)) return Promise.resolve(refusal(one.call, one.name, one.refused));
    const blockers = running.filter((other) => conflict(other.ready, one.ready)).map(({ done }) => done);
    const done = Promise.all(blockers).then(() => runOne(host, one.ready, signal));
    running.push({ ready: one.ready, done });
    return done;
  });
  const answered: CallResult[] = [];
  for (const [index, pending] of results.entries()) {
    const result = await pending;
    const { text, spilled } = await fitResult(result.text, host.session.spillFolder, `${calls[index]?.id ?? index}-${result.name}`);
    host.log.write('tool.result', {
      call: result.call.id,
      name: result.name,
      text,
      isError: result.isError,
      ms: result.ms,
      ...(spilled !== undefined && { spilled }),
      ...(result.data !== undefined && { data: structuredClone(result.data) as never }),
    });
    answered.push({ ...result, text });
  }
  return answered;
}

/** Two calls that must run in their order: one writes what the other reads or writes, or nobody can tell. */
function conflict(a: Ready, b: Ready): boolean {
  if (a.alone || b.alone) return true;
  return a.paths.some((one) => b.paths.some((other) => (one.access === 'write' || other.access === 'write') && overlap(one.real, other.real)));
}

/** A search of a folder reads the files below it. */
function overlap(a: string, b: string): boolean {
  return contains(a, b) || contains(b, a);
}

async function prepare(host: RoundHost, announced: AnnouncedCall, signal: AbortSignal): Promise<Prepared> {
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
    const call = toolCall(host, announced.id, [], signal);
    const touches = entry.item.touches ? ((await entry.item.touches(input as never, call)) as readonly Touch[]) : [];
    const paths = await Promise.all(touches.map((touch) => gatedPath(host, touch)));
    const gated: GatedUse = { ...use, ...(host.mode && { mode: host.mode }), input: structuredClone(shown), effect: entry.item.effect, paths };
    const refused = await judge(host, entry, input, gated, signal);
    if (refused !== undefined) return refuse(refused, use.name);
    const alone = entry.item.effect === 'exec' || (entry.item.effect === 'write' && paths.length === 0);
    return { ready: { call: announced, entry, input, shown, paths, alone } };
  } catch (error) {
    // Whatever it was: a call without a result would make the whole conversation invalid.
    if (signal.aborted) return refuse('Cancelled before it ran.', use.name);
    if (error instanceof FaultError || isOperational(error)) return refuse(failureText(error), use.name);
    return refuse(`It failed before it ran: ${describeError(error)}. Nothing was run.`, use.name);
  }
}

async function gatedPath({ workspace, session }: RoundHost, { path, access }: Touch): Promise<GatedPath> {
  const resolved = await resolvePath(workspace, path);
  // What a result was too large to show may be read where it was kept, or it would be lost after all.
  const isKept = access === 'read' && !resolved.inWorkspace && contains((await resolvePath(workspace, session.spillFolder)).real, resolved.real);
  return { given: path, access, ...resolved, ...(isKept && { inWorkspace: true }) };
}

/** Asks the gate, and the person where the gate says so. Answers why not, or undefined. */
async function judge(host: RoundHost, entry: Item<Tool>, input: unknown, use: GatedUse, signal: AbortSignal): Promise<string | undefined> {
  const decision = await host.p.call('tool.gate', use, signal);
  if (decision.verdict === 'allow') return undefined;
  const reason = decision.reason ?? `${use.name} is not allowed`;
  if (decision.verdict === 'deny') return `Not allowed: ${reason}. Nothing was run.`;
  // What is asked about may be looked at, to show the person what would change.
  const preview = entry.item.preview ? await entry.item.preview(input as never, toolCall(host, use.call, use.paths, signal)) : undefined;
  const answer = await host.ask(
    { call: use.call, question: `Allow ${use.name}?`, reason, ...(decision.rule !== undefined && { rule: decision.rule }), ...(preview !== undefined && { preview }) },
    signal,
  );
  if (signal.aborted) return 'Cancelled before it ran.';
  if (answer) return undefined;
  if (answer === false) return 'The person said no. Nothing was run. Ask what they want instead, or find another way.';
  return `Not allowed: ${reason}, and nobody can be asked. Nothing was run.${decision.rule === undefined ? '' : ` The person can allow it with: ${decision.rule}`}`;
}

function toolCall(host: RoundHost, id: string, approved: readonly GatedPath[], signal: AbortSignal): ToolCall {
  const context = {
    id,
    session: host.session,
    signal,
    output: (text: string) => host.log.write('tool.output', { call: id, text: String(text) }),
    async resolve(path: string, access: Touch['access']): Promise<string> {
      // Judged again at the moment of use: a symlink may have changed since the gate saw it.
      const { real, inWorkspace, inAgentFolder } = await gatedPath(host, { path, access });
      const granted = approved.some((one) => one.real === real && (one.access === 'write' || access === 'read'));
      if (granted || (inWorkspace && (access === 'read' || !inAgentFolder))) return real;
      throw new OperationalError(`${path} ${inWorkspace ? 'lies in an .agent folder' : 'lies outside of the workspace'}, and was not approved`);
    },
  };
  return context as unknown as ToolCall;
}

async function runOne(host: RoundHost, ready: Ready, signal: AbortSignal): Promise<CallResult> {
  const { call, entry, shown, paths } = ready;
  if (signal.aborted) return refusal(call, entry.name, 'Cancelled before it ran.');
  const started = host.p.now();
  const { text, isError, data, images } = await runTool(host, ready, toolCall(host, call.id, paths, signal), signal);
  const ms = Math.round(host.p.now() - started);
  const use = { session: host.session.id, call: call.id, name: entry.name, input: shown };
  let outcome: ToolOutcome = { ...use, text, isError: isError ?? false, ...(data !== undefined && { data }) };
  if (outcome.isError) {
    const better = await host.p.call('tool.error', structuredClone(outcome), signal);
    if (better) outcome = { ...outcome, text: better.text };
  }
  outcome = (await host.p.call('tool.after', structuredClone(outcome), signal)) as ToolOutcome;
  // What the loop itself acts on stays as the call said it.
  const kept = entry.name === taskDone.name ? data : outcome.data;
  return { call, name: entry.name, text: outcome.text, isError: outcome.isError, data: kept, images: images ?? [], ms };
}

async function runTool(host: RoundHost, { entry, input }: Ready, call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
  const limit = entry.item.deadline === undefined ? { limit: host.timeout } : {};
  let late: NodeJS.Timeout | undefined;
  let cancelled = (): void => undefined;
  const cancel = new Promise<ToolResult>((resolve) => {
    cancelled = () => {
      late = setTimeout(resolve, cancelGrace, { text: 'Cancelled; it may have run.', isError: true });
    };
    signal.addEventListener('abort', cancelled, { once: true });
  });
  try {
    const answer = await Promise.race([entry.item.run(input as never, { ...call, ...limit, signal } as never), cancel]);
    return typeof answer === 'string' ? { text: answer } : answer;
  } catch (error) {
    if (signal.aborted) return { text: 'Cancelled; it may have run.', isError: true };
    if (error instanceof FaultError || isOperational(error)) return { text: failureText(error), isError: true };
    return { text: `It failed: ${describeError(error)}`, isError: true };
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', cancelled);
  }
}

function failureText(error: FaultError | OperationalError | Error): string {
  if (error instanceof FaultError) return `The plugin ${error.fault.plugin ?? ''} failed: ${faultCause(error.fault)}; ${error.fault.action}. Find another way, or tell the person.`;
  return error.message;
}

function refusal(call: AnnouncedCall, name: string, text: string): CallResult {
  return { call, name, text, isError: true, data: undefined, images: [], ms: 0 };
}

function unknownTool(name: string, tools: ReadonlyMap<string, unknown>): string {
  const near = [...tools.keys()].filter((known) => known.includes(name) || name.includes(known)).slice(0, 3);
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
