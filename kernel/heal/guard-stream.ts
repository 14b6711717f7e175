/** Layer 1 for streams: each part enters the slot, under a deadline of its own. */
import type { MemberSpec } from '../contribution-spec.ts';
import { KernelError } from '../errors.ts';
import { FaultError } from './fault.ts';
import { isInterrupted } from './interrupt.ts';
import { type Frame, putUnder } from './provenance.ts';
import type { Slot } from '../slot.ts';
import { enterSlot, faultKind, type GuardHost, interruption, isNews } from './guard.ts';

export function isStream(value: unknown): value is ReadableStream {
  return typeof value === 'object' && value !== null && typeof (value as { getReader?: unknown }).getReader === 'function';
}

/**
 * A stream of the same parts. When the next part does not come in time, or reading fails, the source is
 * cancelled and the reader gets an error.
 *
 * @param limit milliseconds between parts; `spec.first` holds for the first one
 * @param signal of the caller: once it is aborted, failing is no fault
 */
export function guardStream(host: GuardHost, slot: Slot, spec: MemberSpec, limit: number, source: ReadableStream, signal?: AbortSignal): ReadableStream {
  const { provenance, sweeper } = host;
  const reader = source.getReader();
  const frame = provenance.newFrame(slot.owner);
  let wait = spec.first ?? limit;
  let left = false;

  return new ReadableStream({
    pull: (controller) =>
      new Promise<void>((resolve) => {
        let over = false;
        const end = (act: () => void) => {
          if (over) return;
          over = true;
          sweeper.clear(deadline);
          if (!left) act();
          resolve();
        };
        const fail = (error: unknown) => {
          void cancel(reader, error);
          controller.error(error);
        };
        const failure = (error: unknown): unknown => {
          if (isInterrupted(error)) return interruption(error);
          return isNews(spec, error) || signal?.aborted ? error : new FaultError(slot.observer.failed(slot, faultKind('rejected', error), error));
        };
        const expire = (taken?: Slot) =>
          end(() => fail(taken ? new FaultError(taken.abandoned) : (spec.late?.(wait) ?? new FaultError(slot.observer.failed(slot, 'timeout', new KernelError('TIMEOUT', { ms: wait }))))));
        const deadline = sweeper.watch(wait, expire, slot);
        putUnder(frame, deadline);
        nextPart(host, slot, frame, reader)
          .then(({ done, value }) =>
            end(() => {
              wait = limit;
              if (!done) return controller.enqueue(value);
              if (slot.watched) slot.observer.clean(slot);
              controller.close();
            }),
          )
          .catch((error: unknown) => end(() => fail(failure(error))));
      }),
    cancel: (reason) => {
      left = true;
      if (frame.deadline) sweeper.clear(frame.deadline);
      void cancel(reader, reason);
    },
  });
}

// The source need not be one of Node's: whatever its methods do becomes a rejection here.
async function nextPart(host: GuardHost, slot: Slot, frame: Frame, reader: ReadableStreamDefaultReader): Promise<{ done: boolean; value?: unknown }> {
  const part: unknown = await enterSlot(host, slot, () => host.provenance.enter(frame, readFrom, undefined, reader, undefined));
  if (typeof part === 'object' && part !== null) return part as { done: boolean };
  throw new KernelError('CONTRACT', { what: 'answered a stream that is none', hint: 'return a ReadableStream' });
}

async function cancel(reader: ReadableStreamDefaultReader, reason: unknown): Promise<void> {
  try {
    await reader.cancel(reason);
  } catch {
    // It may be stuck: nobody waits for it.
  }
}

function readFrom(reader: unknown): unknown {
  return (reader as ReadableStreamDefaultReader).read();
}
