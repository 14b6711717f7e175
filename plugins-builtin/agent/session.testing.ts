/** A session in this process, for the tests of this folder: the real kernel and built-in plugins, and a scripted server. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Event, type EventType, type Json, type RunResult, type Session, type SessionOptions, sessions, trustControl } from 'newt-agent';
import { boot, candidateOf, type Inline, type Stage, temporaryFolder } from '../../test/support/boot.ts';
import { type ModelServer, type Script, startModelServer } from '../../test/support/model-server.ts';
import { builtinCandidates } from '../builtins.ts';

export interface Desk extends AsyncDisposable {
  readonly stage: Stage;
  readonly server: ModelServer;
  readonly session: Session;
  /** Real path of the workspace. */
  readonly cwd: string;
  /** What was heard so far, in order. */
  readonly events: readonly Event[];
  run(prompt?: string, signal?: AbortSignal): Promise<RunResult>;
  of<Type extends EventType>(type: Type): Extract<Event, { type: Type }>['data'][];
  /** The tool messages of a request, by call id. */
  observed(request: number): readonly (readonly [string, string])[];
}

export interface DeskOptions extends Omit<Partial<SessionOptions>, 'cwd'> {
  /** Configuration of the built-in plugins. */
  readonly config?: { readonly [key: string]: Json };
}

const parts = ['agent', 'files', 'code-search', 'models', 'permissions', 'shell'];

export async function openDesk(script: Script, plugins: readonly Inline[] = [], { config = {}, onEvent, ...options }: DeskOptions = {}): Promise<Desk> {
  const server = await startModelServer(script);
  const folder = temporaryFolder();
  const cwd = join(folder, 'workspace');
  mkdirSync(cwd);
  const stage = await boot([], {
    folder,
    candidates: [...builtinCandidates('1.0.0').filter(({ manifest }) => parts.includes(manifest.id)), ...plugins.map((plugin) => candidateOf(plugin, folder))],
    configOf: ({ tier }) => (tier === 'builtin' ? config : {}),
    env: { AGENT_BASE_URL: server.url, AGENT_MODEL: 'test' },
  });
  stage.kernel.provide(trustControl.key, { folder: undefined });
  const events: Event[] = [];
  const { open } = stage.kernel.use(sessions.key) as { open(options: SessionOptions): Promise<Session> };
  const session = await open({
    cwd,
    mode: 'auto',
    ...options,
    onEvent: (event) => {
      events.push(event);
      onEvent?.(event);
    },
  });
  return {
    stage,
    server,
    session,
    cwd,
    events,
    run: (prompt = 'go', signal = new AbortController().signal) => session.run(prompt, signal),
    of: (type) => events.flatMap((event) => (event.type === type ? [event.data as never] : [])),
    observed: (request) => (server.requests[request]?.body.messages ?? []).flatMap((message) => (message.role === 'tool' ? [[message.tool_call_id ?? '', String(message.content)] as const] : [])),
    async [Symbol.asyncDispose]() {
      await session.close();
      await server.close();
      await stage[Symbol.asyncDispose]();
    },
  };
}

/** A plugin of the person's own that brings these tools. */
export function toolsOf(tools: object, id = 'lab'): Inline {
  return { id, setup: () => ({ tools }) };
}

/** A plugin that guards `hook`. */
export function guardOf(hook: string, decide: (payload: never) => unknown, id = 'guard'): Inline {
  return { id, facts: { capabilities: [`gate:${hook}`] }, setup: () => ({ hooks: { [hook]: decide } }) };
}

/** A promise and the way to settle it. */
export function latch(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
