/** `agent chat`: from the command line to the end of the conversation. Everything shown is told by the event log. */
import { constants } from 'node:os';
import { join } from 'node:path';
import { changingTerminal, type CommandIO, configurationError, decidesOnSignal, describeError, type Disposable, type Event, type Invocation, kernelControl, type OperationalError, type PluginContext, printable, readEventLog, type RunResult, type SessionOptions, shortPath, type Style, truncate } from 'newt-agent';
import { exitCodes, sayError, sayFailure } from '../failure.ts';
import { withQuestions } from '../questions.ts';
import { type Surface, textView } from '../render-text.ts';
import { lastGrace, lastSession, roundsOf, workspace } from '../run-command.ts';
import { short } from '../run-totals.ts';
import { isTerminal, type Terminal } from '../terminal.ts';
import { pipedView, type View } from '../view.ts';
import { type ChatCommands, chatCommands, type ChatControl, modeText, runChatCommand } from './commands.ts';
import { type Conversation, openConversation } from './conversation.ts';
import { type History, openHistory } from './history.ts';
import { lastExchange } from './last-exchange.ts';
import { withMentions } from './mentions.ts';

/** Where a chat is shown and typed. */
export interface ChatSurface {
  readonly surface: Surface;
  start(handlers: {
    /** A blank in front keeps a message out of the history, and from being a command. */
    readonly onMessage: (text: string) => void;
    /** The run at work is to end, and the chat to go on. */
    readonly onCancel: () => void;
    /** Ctrl-C while the agent works, or for the second time. */
    readonly onInterrupt: () => void;
    /** There is nothing more to say. */
    readonly onEnd: () => void;
    readonly onFailure: (error: OperationalError) => void;
  }): void;
  /** Hears what the person said, from the log. */
  said(event: Event): void;
  /** A message waits for the run at work to take it. */
  queued(text: string): void;
  forgetQueued(): void;
  working(isBusy: boolean, isCancelling: boolean): void;
  confirm(question: string, signal: AbortSignal): Promise<boolean | undefined>;
  /** Gives the terminal back. */
  stop(): Promise<void>;
}

export interface SurfaceHost {
  readonly io: Terminal;
  readonly style: Style;
  readonly cwd: string;
  readonly commands: ChatCommands;
  readonly history: History;
}

/** Runs the chat and answers its exit code: of a pipe, that of the last message. */
export async function chat(p: PluginContext, invocation: Invocation, io: CommandIO, outer: AbortSignal): Promise<number> {
  try {
    if (!isTerminal(io)) throw configurationError('agent chat needs a terminal or a pipe', 'agent run "what to do"');
    const { arguments: { prompt = [] }, options } = invocation;
    const cwd = workspace(options['cwd']);
    const maxRounds = roundsOf(options['maxRounds']);
    const resume = options['continue'] === true ? await lastSession(p, cwd) : undefined;
    const session: SessionOptions = {
      cwd,
      mode: options['yes'] === true ? 'auto' : undefined,
      ...(typeof options['model'] === 'string' && { model: options['model'] }),
      ...(maxRounds !== undefined && { maxRounds }),
      ...(resume !== undefined && { resume }),
    };
    return await converse(p, io, session, [prompt].flat().join(' ').trim(), outer);
  } catch (error) {
    const code = sayError(io, error);
    return code === exitCodes.failed ? exitCodes.usage : code;
  }
}

async function converse(p: PluginContext, io: Terminal, options: SessionOptions, first: string, outer: AbortSignal): Promise<number> {
  const { cwd, resume } = options;
  const isTyped = io.stdin.isTTY === true && io.interactive;
  const past = resume === undefined ? [] : readEventLog(resume).events;
  const history = openHistory(join(p.use(kernelControl).paths.state, 'chat-history.jsonl'));
  const host: SurfaceHost = { io, style: io.style, cwd, commands: chatCommands, history };
  const isScreen = isTyped && io.movesCursor;
  const chatSurface = isScreen ? (await import('./screen-chat.ts')).screenChat(host) : (await import('./line-chat.ts')).lineChat(host, isTyped);
  const { surface } = chatSurface;

  let conversation: Conversation;
  const newView = (): View => (isTyped ? textView(surface) : pipedView(io, io.remarkStyle));
  let view = newView();
  const shown: Pick<View, 'show' | 'hasShown'> = {
    hasShown: (call, text) => view.hasShown?.(call, text) ?? false,
    show(event) {
      if (event.type === 'user') view = newView();
      chatSurface.said(event);
      view.show(event);
      if (event.type === 'stop' && event.data.code !== 0) sayEnd(event.data.reason, event.data.text);
    },
  };
  const sayEnd = (reason: RunResult['reason'], text: string): void => {
    if (!isTyped) return sayFailure(io, text || reason);
    surface.say(reason === 'cancelled' ? surface.style.yellow('cancelled') : surface.style.red(`✗ ${printable(text) || reason}`));
  };
  const { ask, show } = withQuestions(() => shown, chatSurface.confirm, isTyped ? io.style : io.questionStyle, () => surface.columns);
  conversation = await openConversation(p, { ...options, ask, onEvent: show }, outer);

  let modes: Disposable | undefined;
  let code = 0;
  let hasLeft = false;
  let leave: (code?: number) => void = () => undefined;
  const left = new Promise<number | undefined>((resolve) => {
    leave = (code) => {
      hasLeft = true;
      resolve(code);
    };
  });
  const control: ChatControl = {
    p,
    conversation,
    cwd,
    style: isTyped ? io.style : io.remarkStyle,
    get columns() {
      return surface.columns;
    },
    commands: chatCommands,
    print: (text) => (isTyped ? surface.print(text) : io.say(text)),
    leave: () => leave(),
  };
  let isStarting = false;
  /** What comes after a command waits for it: it may be the session that changes. */
  let commandAtWork: Promise<unknown> | undefined;
  const progress = (): void => chatSurface.working(conversation.isBusy || isStarting, conversation.isCancelling);
  /** Nobody waits for a message: whatever goes wrong with it is said here. */
  const sayProblem = (error: unknown): number => {
    try {
      return sayError({ say: surface.say, style: control.style }, error);
    } catch (unknown) {
      surface.say(control.style.red(describeError(unknown)));
      return exitCodes.failed;
    }
  };

  /** One message or command, to its end. Whatever it comes to is shown. */
  const submit = async (typed: string): Promise<void> => {
    // A pipe may hold more than the chat was to hear.
    if (hasLeft) return;
    const problem = isTyped ? history.add(typed) : undefined;
    if (problem) surface.say(surface.style.dim(`the history is not kept: ${problem}`));
    isWarned = false;
    // On a screen a command is over before it could be seen at work; lines wait for their turn.
    isStarting = !conversation.isBusy && !isScreen;
    progress();
    await commandAtWork;
    const { session } = conversation;
    try {
      if (isCommand(typed)) {
        if (isScreen) surface.print(`\n${surface.style.cyan('›')} ${truncate(typed, surface.columns - 2)}`);
        const command = runChatCommand(typed, control);
        commandAtWork = command.catch(() => undefined);
        const isDone = await command;
        if (conversation.session !== session) chatSurface.forgetQueued();
        if (isDone) return;
      }
      const { text, refused } = withMentions(typed.trim(), cwd);
      for (const line of refused) surface.say(control.style.yellow(`⚠ ${printable(line)}`));
      if (conversation.isBusy) chatSurface.queued(text);
      const running = conversation.say(text);
      progress();
      const result = await running;
      if (result) code = result.code;
    } catch (error) {
      code = sayProblem(error);
    } finally {
      isStarting = false;
      progress();
    }
  };
  const cancel = (): boolean => {
    const isFirst = conversation.cancel();
    if (isFirst) view.cancelling();
    progress();
    return isFirst;
  };
  let isWarned = false;
  /** Ctrl-C. The first cancels the run at work, the second ends the chat. A pipe has nobody who could go on. */
  const interrupt = (exitCode: number | undefined): void => {
    if (cancel() && isTyped) return;
    if (!isTyped || isScreen || conversation.isBusy || isWarned) return leave(exitCode);
    isWarned = true;
    io.say(io.remarkStyle.dim('\n(Ctrl-C again to leave)'));
  };
  const signals = onSignals((name) => {
    const exitCode = 128 + constants.signals[name];
    if (name === 'SIGINT') interrupt(exitCode);
    else leave(exitCode);
  });

  try {
    if (isTyped) {
      surface.print(banner(p, conversation, cwd, surface));
      if (past.length > 0) surface.print(lastExchange(past, surface.style, surface.columns));
    }
    if (first) void submit(first);
    modes = isScreen ? await changingTerminal(p) : undefined;
    chatSurface.start({
      onMessage: (text) => void submit(text),
      onCancel: () => void cancel(),
      onInterrupt: () => interrupt(conversation.isBusy ? 130 : undefined),
      onEnd: () => leave(),
      onFailure: (error) => leave(sayError(io, error)),
    });
    const exitCode = await left;
    return exitCode ?? (isTyped ? 0 : code);
  } finally {
    conversation.cancel();
    await within(conversation.settled(), lastGrace);
    await chatSurface.stop();
    await modes?.dispose();
    signals.dispose();
    if (isTyped && conversation.hasContent) io.print(io.style.dim(farewell(conversation, cwd)));
    await within(conversation.close().catch((error: unknown) => void sayError(io, error)), lastGrace);
  }
}

const isCommand = (text: string): boolean => text.startsWith('/');

/** At most three lines: what one talks to, where, and how to find out the rest. */
function banner(p: PluginContext, { session }: Conversation, cwd: string, { style, columns }: Surface): string {
  const { model, scripted, mode } = session.status();
  const facts = printable([`${model}${scripted ? ' (scripted)' : ''}`, shortPath(cwd), modeText(p, mode)].join(' · '));
  return `${style.bold(truncate(facts, columns))}\n${style.dim(truncate('/help shows commands and keys · @file attaches a file · Ctrl-D leaves', columns))}`;
}

function farewell({ tokens: { input, output } }: Conversation, cwd: string): string {
  const used = input + output > 0 ? `${short(input)} tokens in · ${short(output)} out · ` : '';
  return `${used}go on in ${shortPath(cwd)} with: agent chat --continue`;
}

function onSignals(listener: (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void): { dispose(): void } {
  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => [name, decidesOnSignal(() => listener(name))] as const);
  for (const [name, heard] of listeners) process.on(name, heard);
  return {
    dispose() {
      for (const [name, heard] of listeners) process.off(name, heard);
    },
  };
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((over) => (timer = setTimeout(over, ms)))]);
  clearTimeout(timer);
}
