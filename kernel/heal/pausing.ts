/** A person may take their time: while they are asked, no deadline runs. */
import type { Sweeper } from './deadline.ts';
import type { Frame, Provenance } from './provenance.ts';

/** Runs `ask` with every deadline of the calls it is inside of stopped. */
export async function pausing<T>(provenance: Provenance, sweeper: Sweeper, ask: () => Promise<T>): Promise<T> {
  const held: Frame[] = [];
  for (let frame = provenance.frame(); frame; frame = frame.outer) held.push(frame);
  for (const frame of held) {
    frame.held += 1;
    if (frame.deadline?.active) sweeper.pause(frame.deadline);
  }
  try {
    return await ask();
  } finally {
    for (const frame of held) {
      frame.held -= 1;
      if (frame.deadline?.active) sweeper.resume(frame.deadline);
    }
  }
}
