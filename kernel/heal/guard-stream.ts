/** Layer 1 for streams: each part enters the slot, under a deadline of its own. */
import type { MemberSpec } from '../contribution-spec.ts';
import type { Deadline } from '../deadline.ts';
import { KernelError } from '../errors.ts';
import { FaultError } from '../fault.ts';
import type { Slot } from '../slot.ts';
import { faultKind, type GuardHost, isNews } from './guard.ts';

export function isStream(value: unknown): value is ReadableStream {
  return typeof value === 'object' && value !== null && typeof (value as { getReader?: unknown }).getReader === 'function';
}

/**
 * A stream of the same parts. When the next part does not come in time, or reading fails, the source is
 * cancelled and the reader gets an error.
 *
 * @param limit milliseconds between parts; `spec.first` holds for the first one
 */
export function guardStream(host: GuardHost, slot: Slot, spec: MemberSpec, limit: number, source: ReadableStream): ReadableStream {
  const reader = source.getReader();
  const frame = host.provenance.newFrame(slot.owner);
  let wait = spec.first ?? limit;

  return new ReadableStream({
    pull: (controller) =>
      new Promise<void>((resolve) => {
        let over = false;
        const end = (act: () => void) => {
          if (over) return;
          over = true;
          host.sweeper.clear(deadline);
          act();
          resolve();
        };
        const fail = (error: unknown) => {
          // The source may be stuck: nobody waits for its cancellation.
          reader.cancel(error).catch(() => undefined);
          controller.error(error);
        };
        const deadline: Deadline = host.sweeper.watch(wait, () =>
          end(() => fail(new FaultError(slot.observer.failed(slot, 'timeout', new KernelError('TIMEOUT', { ms: wait }))))),
        );
        frame.deadline = deadline;
        const read = host.provenance.enter(frame, readFrom, undefined, reader, undefined) as ReturnType<typeof reader.read>;
        read.then(
          ({ done, value }) =>
            end(() => {
              wait = limit;
              if (done) controller.close();
              else controller.enqueue(value);
            }),
          (error: unknown) =>
            end(() => fail(isNews(spec, error) ? error : new FaultError(slot.observer.failed(slot, faultKind('rejected', error), error)))),
        );
      }),
    cancel: (reason) => {
      reader.cancel(reason).catch(() => undefined);
    },
  });
}

function readFrom(reader: unknown): unknown {
  return (reader as ReadableStreamDefaultReader).read();
}
