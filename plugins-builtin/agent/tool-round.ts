/**
 * The tool calls of one answer: gated one after the other in call order, each after the earlier ones it
 * cannot do without; run in parallel where they do not touch the same files, answered in call order.
 * Every announced call gets a result.
 */
import { type AnnouncedCall, describeError, FaultError, isOperational, type Json, type ToolCall, type ToolOutcome, type ToolResult } from 'newt-agent';
import { fitResult } from './spill.ts';
import { type RoundHost, toolCall } from './tool-call.ts';
import { taskDone } from './tool-catalog.ts';
import { toolOutput } from './tool-output.ts';
import { cancelled, failureText, type Footprint, prepare, type Ready } from './tool-prepare.ts';
import { contains } from './workspace.ts';

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

/** A call that passed the gate: begun when a later one has to wait for it, or when all are gated. */
interface Passed {
  readonly ready: Ready;
  readonly result: Promise<CallResult>;
  readonly resolve: (result: Promise<CallResult>) => void;
  begun: boolean;
  settled: boolean;
}

/** How long a tool that ignores its signal holds up a person who cancelled, in milliseconds. */
const cancelGrace = 3_000;

export async function runCalls(host: RoundHost, calls: readonly AnnouncedCall[], signal: AbortSignal): Promise<CallResult[]> {
  const passed: Passed[] = [];
  const begin = (): void => {
    // None of them is in the way of another: each was gated after those had settled.
    for (const one of passed) {
      if (one.begun) continue;
      one.begun = true;
      one.resolve(runOne(host, one.ready, signal).finally(() => (one.settled = true)));
    }
  };
  const clear = async (footprint: Footprint): Promise<boolean> => {
    const inTheWay = passed.filter((one) => !one.settled && conflict(one.ready, footprint));
    if (inTheWay.length === 0) return false;
    begin();
    await Promise.all(inTheWay.map(({ result }) => result));
    return true;
  };
  const answered: CallResult[] = [];
  let answers = Promise.resolve();
  for (const call of calls) {
    const { promise: result, resolve } = Promise.withResolvers<CallResult>();
    const before = answers;
    // Each is answered as soon as those before it are: a person who is asked about the next one has seen it.
    answers = before.then(async () => void answered.push(await answer(host, await result)));
    // They are awaited below; until then a full disk must not end the process.
    for (const one of [result, answers]) one.catch(() => undefined);
    if (signal.aborted) {
      resolve(refusal(call, call.name, cancelled));
      continue;
    }
    const output = toolOutput(host.log, call.id);
    const prepared = await prepare(host, call, output, clear, signal);
    if ('ready' in prepared) {
      passed.push({ ready: prepared.ready, result, resolve, begun: false, settled: false });
    } else {
      output.end();
      resolve(refusal(call, prepared.name, prepared.refused));
    }
  }
  begin();
  await answers;
  return answered;
}

async function answer(host: RoundHost, result: CallResult): Promise<CallResult> {
  const { text, spilled } = await fitResult(result.text, host.session.spillFolder, `${result.call.id}-${result.name}`);
  host.log.write('tool.result', {
    call: result.call.id,
    name: result.name,
    text,
    isError: result.isError,
    ms: result.ms,
    ...(spilled !== undefined && { spilled }),
    ...(result.data !== undefined && { data: structuredClone(result.data) as never }),
  });
  return { ...result, text };
}

/** Two calls that must run in their order: one writes what the other reads or writes, or nobody can tell. */
function conflict(a: Footprint, b: Footprint): boolean {
  if (a.alone || b.alone) return true;
  return a.paths.some((one) => b.paths.some((other) => (one.access === 'write' || other.access === 'write') && overlap(one.real, other.real)));
}

/** A search of a folder reads the files below it. */
function overlap(a: string, b: string): boolean {
  return contains(a, b) || contains(b, a);
}

async function runOne(host: RoundHost, ready: Ready, signal: AbortSignal): Promise<CallResult> {
  const { call, entry, shown, paths, output } = ready;
  if (signal.aborted) return refusal(call, entry.name, cancelled);
  const started = host.p.now();
  const { text, isError, data, images } = await runTool(host, ready, toolCall(host, call.id, output, paths, signal), signal);
  output.end();
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
  let onCancel = (): void => undefined;
  const cancel = new Promise<ToolResult>((resolve) => {
    onCancel = () => {
      late = setTimeout(resolve, cancelGrace, { text: 'Cancelled; it may have run.', isError: true });
    };
    signal.addEventListener('abort', onCancel, { once: true });
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
    signal.removeEventListener('abort', onCancel);
  }
}

function refusal(call: AnnouncedCall, name: string, text: string): CallResult {
  return { call, name, text, isError: true, data: undefined, images: [], ms: 0 };
}
