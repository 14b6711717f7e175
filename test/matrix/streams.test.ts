/** Members that answer a stream, or an object with guarded methods: each part and each method is a call of its own. */
import { describe, expect, test } from 'vitest';
import type { MemberSpec, PointSpec } from '../../kernel/contribution-spec.ts';
import { FaultError, type FaultKind, OperationalError } from '../../kernel/heal/fault.ts';
import { boot, inTime, type Stage } from '../support/boot.ts';
import { failures } from './failures.ts';

const stream: MemberSpec<unknown> = { kind: 'stream', first: 90, deadline: 60 };

/** The item `it` of the plugin `bad`, beside its kernel. */
async function stageWith(run: unknown, spec: MemberSpec<unknown> = stream): Promise<Stage & { run(context?: object): Promise<unknown> }> {
  const point = { name: 'jobs', itemName: /^it$/, members: { run: spec } } as PointSpec<never>;
  const stage = await boot([
    { id: 'host', tier: 'builtin', defines: { points: [point] } },
    { id: 'bad', setup: () => ({ jobs: { it: { run } } }) },
  ]);
  return { ...stage, run: (context) => (stage.kernel.items('jobs').get('it')?.item as { run(input: unknown, context?: object): Promise<unknown> }).run({}, context) };
}

/** A stream of `parts`, each of which may be a wait, an error, or `never`. */
function streamOf(...parts: (string | number | Error | 'never')[]): ReadableStream & { cancelled?: unknown } {
  const source: ReadableStream & { cancelled?: unknown } = new ReadableStream({
    async pull(controller) {
      const part = parts.shift();
      if (part === undefined) return controller.close();
      if (part instanceof Error) throw part;
      if (part === 'never') return new Promise(() => undefined);
      if (typeof part === 'number') {
        await new Promise((resolve) => setTimeout(resolve, part));
        return this.pull?.(controller);
      }
      controller.enqueue(part);
    },
    cancel(reason) {
      source.cancelled = reason;
    },
  }, { highWaterMark: 0 });
  return source;
}

async function read(answer: unknown): Promise<{ parts: unknown[]; error?: unknown }> {
  const parts: unknown[] = [];
  try {
    for await (const part of answer as AsyncIterable<unknown>) parts.push(part);
  } catch (error) {
    return { parts, error };
  }
  return { parts };
}

describe.concurrent('a stream', () => {
  test('passes its parts on', async () => {
    await using stage = await stageWith(async () => streamOf('a', 'b'));
    expect(await read(await stage.run())).toEqual({ parts: ['a', 'b'] });
    expect(stage.faults).toEqual([]);
  });

  test('may be the "stream" of what is answered', async () => {
    await using stage = await stageWith(() => ({ stream: streamOf('a'), extra: 1 }));
    const answer = (await stage.run()) as { stream: unknown; extra: number };
    expect(answer.extra).toBe(1);
    expect(await read(answer.stream)).toEqual({ parts: ['a'] });
  });

  test('may be slow, as long as each part comes in time', async () => {
    await using stage = await stageWith(() => streamOf(150, 'a', 150, 'b', 150, 'c', 150, 'd', 150, 'e', 150, 'f'), { kind: 'stream', first: 600, deadline: 600 });
    expect(await read(await stage.run())).toEqual({ parts: ['a', 'b', 'c', 'd', 'e', 'f'] });
  });

  const timeouts = [
    ['the first part never comes', ['never'], [], '90 ms'],
    ['a part between never comes', ['a', 'never'], ['a'], '60 ms'],
    ['the end never comes', ['a', 'b', 'never'], ['a', 'b'], '60 ms'],
  ] as const;
  test.for(timeouts)('whose %s is cancelled, and its reader gets an error', async ([, parts, before, limit]) => {
    const source = streamOf(...parts);
    await using stage = await stageWith(() => source);
    const outcome = await inTime(async () => read(await stage.run()));
    expect(outcome.parts).toEqual(before);
    expect(outcome.error).toBeInstanceOf(FaultError);
    expect(stage.faults).toMatchObject([{ kind: 'timeout', plugin: 'bad', where: 'jobs/it.run', message: expect.stringContaining(limit) }]);
    expect(source.cancelled).toBe(outcome.error);
    await expect(stage.run()).rejects.toBeInstanceOf(FaultError);
  });

  test.for([['at once', [new Error('boom')], []], ['in the middle', ['a', new Error('boom')], ['a']]] as const)('that fails %s gives its reader a FaultError', async ([, parts, before]) => {
    await using stage = await stageWith(() => streamOf(...parts));
    const outcome = await read(await stage.run());
    expect(outcome.parts).toEqual(before);
    expect(outcome.error).toBeInstanceOf(FaultError);
    expect(stage.faults).toMatchObject([{ kind: 'rejected', plugin: 'bad', message: expect.stringContaining('boom') }]);
  });

  test('that fails operationally gives its reader that very error', async () => {
    const offline = new OperationalError('offline');
    await using stage = await stageWith(() => streamOf('a', offline));
    expect(await read(await stage.run())).toEqual({ parts: ['a'], error: offline });
    expect(stage.faults).toEqual([]);
  });

  test('that fails as the spec calls operational does too', async () => {
    const gone = Object.assign(new Error('gone'), { code: 'GONE' });
    await using stage = await stageWith(() => streamOf('a', gone), { ...stream, operational: (error) => (error as { code?: unknown }).code === 'GONE' });
    expect(await read(await stage.run())).toEqual({ parts: ['a'], error: gone });
    expect(stage.faults).toEqual([]);
  });

  test('that fails because its caller gave up is not at fault', async () => {
    const controller = new AbortController();
    const source = new ReadableStream({ start: (inner) => controller.signal.addEventListener('abort', () => inner.error(controller.signal.reason)) });
    await using stage = await stageWith(() => source);
    const outcome = read(await stage.run({ signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await outcome).toMatchObject({ parts: [], error: { message: 'enough' } });
    expect(stage.faults).toEqual([]);
  });

  test('that its reader leaves is cancelled, and no longer waited for', async () => {
    const source = streamOf('a', 'never');
    await using stage = await stageWith(() => source);
    const reader = ((await stage.run()) as ReadableStream).getReader();
    expect(await reader.read()).toEqual({ done: false, value: 'a' });
    const waiting = reader.read();
    await new Promise(setImmediate);
    await reader.cancel('left');
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(source.cancelled).toBe('left');
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(stage.faults).toEqual([]);
  });

  const notStreams: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined],
    ['an array', ['a']],
    ['a stream somebody reads already', (() => { const taken = new ReadableStream(); taken.getReader(); return taken; })()],
  ];
  test.for(notStreams)('must be one: %s is not', async ([, answer]) => {
    await using stage = await stageWith(() => answer);
    await expect(stage.run()).rejects.toBeInstanceOf(FaultError);
    expect(stage.faults).toMatchObject([{ plugin: 'bad', where: 'jobs/it.run' }]);
  });

  const odd: readonly (readonly [string, () => unknown, FaultKind])[] = [
    ['throws', () => { throw new Error('boom'); }, 'rejected'],
    ['answers a number', () => 1, 'contract'],
    ['answers an empty promise', async () => undefined, 'contract'],
    ['never answers', () => new Promise(() => undefined), 'timeout'],
  ];
  test.for(odd)('of the plugin\'s own making whose read %s is contained', async ([, readPart, kind]) => {
    await using stage = await stageWith(() => ({ getReader: () => ({ read: readPart, cancel: async () => undefined }) }));
    expect(await inTime(async () => read(await stage.run()))).toMatchObject({ parts: [], error: expect.any(FaultError) });
    expect(stage.faults).toMatchObject([{ kind, plugin: 'bad' }]);
  });

  test.for(failures.map((failure) => ({ title: failure.name, failure })))('of a member that $title never starts', async ({ failure }) => {
    await using stage = await stageWith((_input: unknown, call: never) => failure.act(call, { settled: false }));
    await expect(inTime(() => stage.run())).rejects.toBeInstanceOf(failure.kind === undefined ? OperationalError : FaultError);
    expect(stage.faults.length).toBe(failure.kind === undefined ? 0 : 1);
  });
});

describe.concurrent('the methods of an answered object', () => {
  const spec: MemberSpec<unknown> = {
    kind: 'call',
    deadline: 60,
    methods: { once: { kind: 'call', deadline: 60 }, parts: stream, soft: { kind: 'call', deadline: 60, onFault: () => 'instead' } },
  };
  interface Model {
    once(input?: unknown): Promise<unknown>;
    parts(input?: unknown): Promise<unknown>;
    soft(input?: unknown): Promise<unknown>;
    readonly label: string;
    free(): string;
  }
  // With private state, so that a method that is called on anything but its own object fails.
  class Real implements Model {
    readonly #word: string;
    readonly #fail: (() => unknown) | undefined;
    constructor(word: string, fail?: () => unknown) {
      this.#word = word;
      this.#fail = fail;
    }
    get label() {
      return this.#word;
    }
    once(): Promise<unknown> {
      return (this.#fail ? this.#fail() : this.#word) as Promise<unknown>;
    }
    soft(): Promise<unknown> {
      return (this.#fail ? this.#fail() : this.#word) as Promise<unknown>;
    }
    parts(): Promise<unknown> {
      return (this.#fail ? this.#fail() : { stream: streamOf(this.#word) }) as Promise<unknown>;
    }
    free() {
      return 'free';
    }
  }
  const modelOf = async (stage: { run(): Promise<unknown> }) => (await stage.run()) as Model;

  test('work, on an object with private state and on a frozen one', async () => {
    for (const make of [() => new Real('w'), () => Object.freeze({ once: () => 'w', soft: () => 'w', parts: () => ({ stream: streamOf('w') }), label: 'w', free: () => 'free' })]) {
      await using stage = await stageWith(make, spec);
      const model = await modelOf(stage);
      expect(model.label).toBe('w');
      expect(model.free()).toBe('free');
      expect('once' in model).toBe(true);
      expect(await model.once()).toBe('w');
      expect(await read(((await model.parts()) as { stream: unknown }).stream)).toEqual({ parts: ['w'] });
      expect(stage.faults).toEqual([]);
    }
  });

  test.for(failures.map((failure) => ({ title: failure.name, failure })))('are guarded by the slot the object came from: one that $title', async ({ failure }) => {
    const call = { signal: new AbortController().signal, fail: (message: string) => { throw new OperationalError(message); } } as never;
    await using stage = await stageWith(() => new Real('w', () => failure.act(call, { settled: false })), spec);
    const model = await modelOf(stage);
    await expect(inTime(() => model.once())).rejects.toBeInstanceOf(failure.kind === undefined ? OperationalError : FaultError);
    if (failure.kind) {
      expect(stage.faults).toMatchObject([{ kind: failure.kind, plugin: 'bad', where: 'jobs/it.run' }]);
      expect(await model.soft()).toBe('instead');
    }
  });

  test('are off as soon as their slot is', async () => {
    await using stage = await stageWith(() => new Real('w', () => { throw new Error('boom'); }), spec);
    const model = await modelOf(stage);
    for (let call = 0; call < 3; call++) expect(await model.soft()).toBe('instead');
    await expect(model.once()).rejects.toBeInstanceOf(FaultError);
    await expect(stage.run()).rejects.toBeInstanceOf(FaultError);
  });

  test('must be on an object', async () => {
    await using stage = await stageWith(() => 'no model', spec);
    await expect(stage.run()).rejects.toBeInstanceOf(FaultError);
    expect(stage.faults).toMatchObject([{ plugin: 'bad' }]);
  });
});
