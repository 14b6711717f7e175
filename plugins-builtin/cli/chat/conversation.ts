/** The session behind a chat: one at a time, with at most one run at work. */
import { rmSync } from 'node:fs';
import { type Event, type PluginContext, type RunResult, type Session, type SessionOptions, sessions } from 'newt-agent';

export interface Conversation {
  readonly session: Session;
  /** Whether a run is at work. */
  readonly isBusy: boolean;
  readonly isCancelling: boolean;
  /** Whether there is something to go on with. */
  readonly hasContent: boolean;
  /** Tokens of all requests made from here. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** Works on `text`. While a run is at work it is a message for that run, and the answer is undefined at once. */
  say(text: string): Promise<RunResult | undefined>;
  /** Cancels the run that is at work; false when there is none, or it was asked to end before. */
  cancel(): boolean;
  /** Begins a new session, with the model of the last one. @throws OperationalError; the old one then stays */
  renew(): Promise<void>;
  /** Waits for the run at work to end. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** @throws OperationalError or KernelError with the fix */
export async function openConversation(p: PluginContext, options: SessionOptions, outer: AbortSignal): Promise<Conversation> {
  let hasContent = options.resume !== undefined;
  const onEvent = (event: Event): void => {
    hasContent ||= event.type === 'user';
    options.onEvent?.(event);
  };
  const open = (more: Partial<SessionOptions> = {}): Promise<Session> => p.use(sessions).open({ ...options, ...more, onEvent });

  let session = await open();
  let before = session.status().tokens;
  const earlier = { input: 0, output: 0 };
  let controller: AbortController | undefined;
  let running: Promise<RunResult> | undefined;

  const tokens = (): Conversation['tokens'] => {
    const { input, output } = session.status().tokens;
    return { input: earlier.input + input - before.input, output: earlier.output + output - before.output };
  };
  return {
    get session() {
      return session;
    },
    get isBusy() {
      return running !== undefined;
    },
    get isCancelling() {
      return controller?.signal.aborted ?? false;
    },
    get hasContent() {
      return hasContent;
    },
    get tokens() {
      return tokens();
    },
    async say(text) {
      if (running) {
        session.steer(text);
        return undefined;
      }
      controller = new AbortController();
      running = session.run(text, AbortSignal.any([outer, controller.signal]));
      return running.finally(() => (controller = running = undefined));
    },
    cancel() {
      if (!controller || controller.signal.aborted) return false;
      controller.abort();
      return true;
    },
    async renew() {
      const next = await open({ resume: undefined, model: session.status().model });
      const last = session;
      Object.assign(earlier, tokens());
      session = next;
      before = next.status().tokens;
      const isEmpty = !hasContent;
      hasContent = false;
      await end(last, isEmpty);
    },
    settled: async () => void (await running?.catch(() => undefined)),
    close: () => end(session, !hasContent),
  };
}

/** A session in which nothing was said is none to go on with: `--continue` is not to find it. */
async function end(session: Session, isEmpty: boolean): Promise<void> {
  await session.close();
  if (isEmpty) rmSync(session.file, { force: true });
}
