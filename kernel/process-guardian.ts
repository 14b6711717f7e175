/** The service that ends what the agent leaves behind when it is killed; `p.exec` tells it of every program. */
import type { Disposable } from './scope.ts';
import { defineService } from './service.ts';

export interface ProcessGuardian {
  /** Ends the process group, named by its leader, when this process is gone, however it went. Until it is disposed. */
  guard(group: number): Disposable;
}

/** Used after the activation event `onProcess`, which comes before every program of a plugin. */
export const processGuardian = defineService<ProcessGuardian>('kernel.process-guardian');
