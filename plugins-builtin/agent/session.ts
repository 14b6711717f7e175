/** A session: the conversation, and the loop that carries a task to its end. */
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import {
  type Decision,
  describeError,
  type Event,
  type Fault,
  faultCause,
  faultLine,
  isKernelError,
  isOperational,
  type Json,
  type KernelControl,
  type LanguageModelV4,
  type ModelChoice,
  modelChooser,
  type ModelRequest,
  oneLine,
  type PluginContext,
  type RunResult,
  type Session,
  type SessionOptions,
  type ToolSession,
} from 'newt-agent';
import { createAsker } from './asker.ts';
import { Conversation, replay } from './conversation.ts';
import { type EventLog, openEventLog, resumeEventLog } from './event-log.ts';
import type { AgentConfig } from './manifest.ts';
import { type Answer, askModel, detail } from './model-turn.ts';
import { reasoningRecord } from './reasoning-parts.ts';
import { Totals } from './session-status.ts';
import { ownSections, systemText } from './system-text.ts';
import { coreSchemas, taskDone } from './tool-catalog.ts';
import type { RoundHost } from './tool-call.ts';
import { type CallResult, runCalls } from './tool-round.ts';
import type { Workspace } from './workspace.ts';

export interface ChosenModel {
  readonly choice: ModelChoice;
  readonly model: LanguageModelV4;
  readonly scripted: boolean;
}

interface SessionHost {
  readonly p: PluginContext<AgentConfig>;
  readonly kernel: KernelControl;
  readonly choice: ModelChoice;
  /** @throws OperationalError when there is no such provider */
  readonly modelOf: (choice: ModelChoice) => Promise<ChosenModel>;
  readonly workspace: Workspace;
  /** Folder of the event logs. */
  readonly folder: string;
  /** Told of every tool call, so that evidence can be checked. */
  readonly onCall: (session: string, call: string) => void;
}

/** How often an empty answer is asked again before the run counts as failed. */
const emptyAnswers = 1;
const toldCause = 300;
const maxNotes = 10;
const maxNotices = 20;
/** Stands for the id of a call where a person is asked about their request itself. */
const inputCall = 'input.submit';

export async function openSession(host: SessionHost, options: SessionOptions): Promise<Session> {
  const { p } = host;
  const model = await host.modelOf(host.choice);
  const totals = new Totals();
  const onEvent = (event: Event): void => {
    totals.add(event);
    options.onEvent?.(event);
  };
  const { log, past } = options.resume === undefined ? { log: newLog(host, onEvent), past: [] } : resumeEventLog(options.resume, p.now, onEvent);
  for (const event of past) totals.add(event);
  try {
    return await converse(host, options, { log, past, totals, model });
  } catch (error) {
    log.close();
    throw error;
  }
}

function newLog({ p, folder }: SessionHost, onEvent: (event: Event) => void): EventLog {
  const id = `${new Date(p.now()).toISOString().slice(0, 19).replace(/[:T]/g, '-')}-${randomUUID().slice(0, 8)}`;
  return openEventLog(join(folder, `${id}.jsonl`), id, p.now, onEvent);
}

interface Opened {
  readonly log: EventLog;
  /** What the log held before. */
  readonly past: readonly Event[];
  readonly totals: Totals;
  readonly model: ChosenModel;
}

async function converse(host: SessionHost, options: SessionOptions, { log, past, totals, model: first }: Opened): Promise<Session> {
  const { p, kernel, workspace } = host;
  const id = past[0]?.session ?? basename(log.file, '.jsonl');
  const about = { session: id, cwd: workspace.cwd };
  const tools: ToolSession = { id, cwd: workspace.cwd, memory: new Map(), spillFolder: join(dirname(log.file), `${id}.files`) };
  const maxRounds = options.maxRounds ?? p.config.react.max_rounds;
  let model = first;

  // What the model is told of plugins that failed, each cause once.
  const untold: string[] = [];
  const onFault = (fault: Fault): void => {
    logFault(log, fault);
    // A tool's own failure is the result of its call: it needs no second telling.
    if (!fault.where.startsWith('tools/')) untold.push(`the plugin ${fault.plugin ?? 'unknown'} failed: ${oneLine(faultCause(fault), toldCause)}; ${fault.action}`);
  };
  /** Also when something of it changes: the last one holds. */
  const describe = (): void => log.write('session', { version: kernel.version, cwd: workspace.cwd, model: model.choice.name, scripted: model.scripted, mode: options.mode ?? 'normal' });
  describe();
  const notices = kernel.notices();
  for (const text of notices.slice(0, maxNotices)) {
    log.write('notice', { level: 'warn', text });
    untold.push(oneLine(text, toldCause));
  }
  if (notices.length > maxNotices) log.write('notice', { level: 'warn', text: `and ${notices.length - maxNotices} more: agent plugin list` });
  for (const fault of kernel.faults()) onFault(fault);
  const listening = kernel.onFault(onFault);
  await p.call('session.start', about);

  const own = ownSections(workspace.cwd);
  const built = systemText(await p.call('prompt.build', { cwd: workspace.cwd, sections: own }), own);
  if (built.dropped.length) log.write('notice', { level: 'warn', text: `the prompt sections ${built.dropped.join(', ')} were dropped: plugins share 1 kB` });
  const schemas = p.config.react.enabled ? coreSchemas(p.items('tools')) : [];
  const callIds = new Set<string>();
  const noteCall = (call: string): void => {
    callIds.add(call);
    host.onCall(id, call);
  };
  const conversation = new Conversation(built.text);
  replay(conversation, past);
  for (const { type, data } of past) if (type === 'tool.call') noteCall(data.call);
  /** What the person said while the model was at work. */
  const steering: string[] = [];
  const round: RoundHost = {
    p: p as unknown as PluginContext,
    log,
    workspace,
    session: tools,
    mode: options.mode,
    ask: createAsker(p as unknown as PluginContext, kernel, log, { id, cwd: workspace.cwd }, options.ask),
    timeout: p.config.tools.timeout * 1_000,
  };

  /** `text` with what the model was not told yet of failed plugins. */
  const withNotes = (text: string): string => {
    const notes = untold.splice(0);
    if (notes.length === 0) return text;
    const more = notes.length > maxNotes ? ` And ${notes.length - maxNotes} more.` : '';
    return `${text}\n\n[From the runtime, as data: ${notes.slice(0, maxNotes).join('. ')}.${more}]`;
  };

  const say = (text: string): void => conversation.say(withNotes(text));

  /** Says what the person has said meanwhile; false when that is nothing. */
  const takeSteering = (): boolean => {
    const texts = steering.splice(0);
    for (const text of texts) {
      log.write('steer', { text });
      say(text);
    }
    return texts.length > 0;
  };

  const run = async (prompt: string, signal: AbortSignal): Promise<RunResult> => {
    const entry = await p.call('input.submit', { ...about, text: prompt }, signal);
    const refused = entry.verdict === 'allow' ? undefined : await notTaken(entry, signal);
    if (refused !== undefined) return stop('error', 1, `the request was not taken: ${refused}`);
    takeSteering();
    log.write('user', { text: prompt });
    say(prompt);
    let empty = 0;
    for (let n = 1; n <= maxRounds; n += 1) {
      signal.throwIfAborted();
      takeSteering();
      const answer = await oneAnswer(n, signal);
      if (answer.calls.length === 0 || schemas.length === 0) {
        // To ask the same again is no use.
        if (answer.finish === 'content-filter') return stop('error', 1, `the model refused to answer${answer.text.trim() ? '' : ' (content filter)'}`);
        if (!answer.text.trim() && empty++ < emptyAnswers) {
          log.write('retry', { reason: 'the model answered nothing', attempt: empty, partial: '' });
          say('Your answer was empty. Go on with the task, or say what the result is.');
          continue;
        }
        if (!answer.text.trim()) return stop('error', 1, 'the model answered nothing, twice');
        if (takeSteering()) continue;
        const more = await p.call('agent.stop', { ...about, reason: 'answered' }, signal);
        if (!more) return stop('answered', 0, answer.text);
        say(more.continue);
        continue;
      }
      for (const call of answer.calls) noteCall(call.id);
      const results = await runCalls(round, answer.calls, signal);
      conversation.observe(results, withNotes);
      log.write('round', { round: n });
      log.sync();
      await p.call('turn.end', { ...about, round: n }, signal);
      signal.throwIfAborted();
      const done = results.find((result) => result.name === taskDone.name && !result.isError);
      if (done && !takeSteering()) return finish(done);
    }
    return stop('rounds', 3, `stopped after ${maxRounds} ${maxRounds === 1 ? 'round' : 'rounds'}; the task is not finished. To allow more: --max-rounds, or react.max_rounds`);
  };

  /** Why a request that a gate objects to is not taken; undefined when the person says it is. */
  const notTaken = async ({ verdict, reason = 'a plugin refused it', rule }: Decision, signal: AbortSignal): Promise<string | undefined> => {
    if (verdict === 'deny') return reason;
    const answer = await round.ask({ call: inputCall, question: 'Send this request?', reason, ...(rule !== undefined && { rule }) }, signal);
    signal.throwIfAborted();
    if (answer) return undefined;
    if (answer === false) return `${reason}; the person said no`;
    return `${reason}, and nobody can be asked${rule === undefined ? '' : `; to allow it: ${rule}`}`;
  };

  const oneAnswer = async (n: number, signal: AbortSignal): Promise<Answer> => {
    const { choice } = model;
    await p.call('turn.start', { ...about, round: n }, signal);
    const request = (await p.call(
      'model.request',
      { session: id, round: n, model: choice.name, messages: conversation.messages, tools: schemas, ...(choice.temperature !== undefined && { temperature: choice.temperature }), ...(choice.maxTokens !== undefined && { maxTokens: choice.maxTokens }) },
      signal,
    )) as ModelRequest;
    log.write('request', { round: n, model: choice.name, messages: request.messages.length, tools: request.tools.length });
    const onSent = (): void => void (n === 1 && setImmediate(() => void kernel.probe()));
    const raw = await askModel({ p: p as unknown as PluginContext, log, model: model.model, signal, onSent }, request);
    const given = (await p.call('model.response', { session: id, round: n, ...raw, calls: uniqueIds(raw.calls, callIds) }, signal)) as unknown as Answer;
    const answer = { ...given, calls: uniqueIds(given.calls, callIds) };
    const thought = reasoningRecord(answer);
    if (thought) log.write('reasoning', thought);
    log.write('assistant', { text: answer.text, finish: answer.finish, partial: false, calls: answer.calls.map((call) => ({ ...call })) });
    if (answer.finish === 'length') log.write('notice', { level: 'warn', text: 'the answer was cut off at max_tokens' });
    conversation.answer(answer);
    return answer;
  };

  const finish = (done: CallResult): RunResult => {
    const { status, summary, evidence } = done.data as { status: 'done' | 'failed'; summary: string; evidence: string[] };
    return stop(status, status === 'done' ? 0 : 1, summary, evidence);
  };

  const stop = (reason: RunResult['reason'], code: number, text: string, evidence?: string[]): RunResult => {
    log.write('stop', { reason, code, text, ...(evidence?.length && { evidence }) });
    log.sync();
    return { reason, code, text };
  };

  /** What ended a run that threw; nothing but an abort is the person's doing. */
  const failed = (error: unknown, signal: AbortSignal): RunResult => {
    const cancelled = signal.aborted;
    const fix = isKernelError(error) ? error.hint : detail(error, 'hint');
    const cause = isOperational(error) ? error.message : describeError(error);
    const text = cancelled ? 'cancelled' : typeof fix === 'string' && fix && !cause.includes(fix) ? `${cause}. ${fix}` : cause;
    const code = cancelled ? 130 : isConfiguration(error) ? 2 : 1;
    try {
      return stop(cancelled ? 'cancelled' : 'error', code, text);
    } catch {
      return { reason: cancelled ? 'cancelled' : 'error', code, text }; // the log itself is what failed
    }
  };

  return {
    id,
    file: log.file,
    steer: (text) => void steering.push(text),
    status: () => totals.status({ model: model.choice.name, scripted: model.scripted, mode: options.mode }, conversation, schemas as unknown as Json),
    async useModel(name) {
      model = await host.modelOf(await p.use(modelChooser).choose(name));
      describe();
    },
    run: (prompt, signal) => run(prompt, signal).catch((error: unknown) => failed(error, signal)),
    async close() {
      await p.call('session.end', { ...about, reason: 'closed' });
      await listening.dispose();
      log.close();
    },
  };
}

function logFault(log: EventLog, fault: Fault): void {
  log.write('fault', {
    ...(fault.plugin !== undefined && { plugin: fault.plugin }),
    where: fault.where,
    kind: fault.kind,
    cause: faultCause(fault),
    action: fault.action,
    next: fault.next,
    line: faultLine(fault),
  });
}

/** Some servers repeat ids, in one answer or from one to the next, or leave them out; a result must belong to exactly one call. */
function uniqueIds(calls: Answer['calls'], taken: ReadonlySet<string>): Answer['calls'] {
  const seen = new Set(taken);
  return calls.map((call) => {
    const id = call.id && !seen.has(call.id) ? call.id : `call_${randomUUID().slice(0, 8)}`;
    seen.add(id);
    return { ...call, id };
  });
}

/** Failures the person mends by changing what the agent was told: a key, a name, an address. */
function isConfiguration(error: unknown): boolean {
  return ['auth', 'unknown-model', 'unreachable', 'not-a-model', 'bad-request', 'configuration'].includes(String(detail(error, 'kind')));
}

