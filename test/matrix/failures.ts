/** The ways a handler fails, shared by the matrix over hooks and the one over members of contributions. */
import type { Call } from '../../kernel/call.ts';
import type { FaultKind } from '../../kernel/heal/fault.ts';

/** What became of a handler that settles after its deadline. */
export interface Late {
  settled: boolean;
}

export interface Failure {
  readonly name: string;
  /** `sync`: from a synchronous handler; `async`: from one that answers a promise. */
  readonly mode: 'sync' | 'async';
  /** Undefined for a failure of the world, which nobody is blamed for. */
  readonly kind: FaultKind | undefined;
  readonly message: RegExp;
  readonly act: (call: Call, late: Late) => unknown;
}

class Money {
  readonly amount = 1;
}

// An object all of whose traps throw: nothing can be learned about it without a try.
const hostile = (): object => {
  const trap = (): never => {
    throw new Error('trap');
  };
  return new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap });
};

const later = <T>(ms: number, act: () => T): Promise<T> => new Promise((resolve) => setTimeout(resolve, ms)).then(act);

/** Once the deadline has passed, which its signal tells. */
const tooLate = (call: Call, late: Late): Promise<void> =>
  new Promise((resolve) => {
    call.signal.addEventListener('abort', () => setTimeout(resolve, 1));
  }).then(() => {
    late.settled = true;
  });

export const failures: readonly Failure[] = [
  { name: 'throws', mode: 'sync', kind: 'threw', message: /^threw Error?:? ?boom|^threw boom/, act: () => { throw new Error('boom'); } },
  { name: 'throws a string', mode: 'sync', kind: 'threw', message: /boom/, act: () => { throw 'boom'; } },
  { name: 'throws undefined', mode: 'sync', kind: 'threw', message: /undefined/, act: () => { throw undefined; } },
  { name: 'throws what throws when looked at', mode: 'sync', kind: 'threw', message: /cannot be printed/, act: () => { throw hostile(); } },
  { name: 'fails operationally', mode: 'sync', kind: undefined, message: /offline/, act: (call) => call.fail('offline') },
  { name: 'rejects', mode: 'async', kind: 'rejected', message: /boom/, act: async () => { throw new Error('boom'); } },
  { name: 'rejects after a while', mode: 'async', kind: 'rejected', message: /boom/, act: () => later(1, () => { throw new TypeError('boom'); }) },
  { name: 'rejects with a string', mode: 'async', kind: 'rejected', message: /boom/, act: async () => { throw 'boom'; } },
  { name: 'rejects with what throws when looked at', mode: 'async', kind: 'rejected', message: /cannot be printed/, act: async () => { throw hostile(); } },
  { name: 'never settles', mode: 'async', kind: 'timeout', message: /did not settle within 60 ms/, act: () => new Promise(() => undefined) },
  {
    name: 'settles after the deadline',
    mode: 'async',
    kind: 'timeout',
    message: /did not settle within 60 ms/,
    act: (call, late) => tooLate(call, late).then(() => ({ late: true })),
  },
  {
    name: 'rejects after the deadline',
    mode: 'async',
    kind: 'timeout',
    message: /did not settle within 60 ms/,
    act: (call, late) => tooLate(call, late).then(() => Promise.reject(new Error('late'))),
  },
  { name: 'answers a thenable whose then throws', mode: 'async', kind: 'rejected', message: /no then/, act: () => ({ then: () => { throw new Error('no then'); } }) },
  { name: 'answers a thenable that cannot be looked at', mode: 'async', kind: 'threw', message: /no getter/, act: () => ({ get then(): unknown { throw new Error('no getter'); } }) },
  { name: 'answers a thenable that never calls back', mode: 'async', kind: 'timeout', message: /did not settle within 60 ms/, act: () => ({ then: () => undefined }) },
  { name: 'fails operationally later', mode: 'async', kind: undefined, message: /offline/, act: (call) => later(1, () => call.fail('offline')) },
];

/** Answers that are not of the type of the hook; `mode` is that of the handler. */
export const wrongAnswers: readonly Failure[] = (
  [
    ['a value of the wrong type', /wrong type|no decision/, () => ({ wrong: true })],
    ['a function', /not a JSON value/, () => () => 1],
    ['an object with a function', /not a JSON value/, () => ({ trail: [], verdict: 'allow', n: () => 1 })],
    ['a class instance', /not a JSON value/, () => new Money()],
    ['a cycle', /not a JSON value/, () => { const loop: Record<string, unknown> = { n: 1 }; return Object.assign(loop, { loop }); }],
    ['an accessor', /not a JSON value/, () => ({ get n() { return 1; } })],
  ] as const satisfies readonly (readonly [what: string, message: RegExp, make: () => unknown])[]
).flatMap(([what, message, make]) => [
  { name: `answers ${what}`, mode: 'sync' as const, kind: 'contract' as const, message, act: make },
  { name: `answers ${what} later`, mode: 'async' as const, kind: 'contract' as const, message, act: () => later(1, make as () => unknown) },
]);
