/** A scripted server and a place for the built command, for tests that make one run or a few. */
import { type Finished, createPlace, type Place, type RunOptions } from './agent-process.ts';
import { type ModelServer, type Reply, type Script, type ScriptedToolCall, startModelServer } from './model-server.ts';

export interface ToolAnswer {
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface Stage extends AsyncDisposable {
  readonly place: Place;
  readonly server: ModelServer;
  /** `agent run --yes go` */
  run(options?: RunOptions): Promise<Finished>;
  /** What the tools answered in the last run, in call order. */
  answers(): ToolAnswer[];
}

export async function openStage(script: Script): Promise<Stage> {
  const server = await startModelServer(script);
  const place = createPlace(server.url);
  return {
    place,
    server,
    run: (options) => place.agent(['run', '--yes', 'go'], options),
    answers: () => place.events().flatMap((event) => (event.type === 'tool.result' ? [event.data] : [])),
    async [Symbol.asyncDispose]() {
      await server.close();
      place.remove();
    },
  };
}

/** The replies that make these calls, one round each, and then answer `done`. */
export function rounds(...calls: readonly (ScriptedToolCall | readonly ScriptedToolCall[])[]): Reply[] {
  return [...calls.map((round) => ({ toolCalls: [round].flat() as ScriptedToolCall[] })), { text: 'done' }];
}

/** A scripted call. */
export function call(name: string, input: object = {}): ScriptedToolCall {
  return { name, arguments: input };
}
