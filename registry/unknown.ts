/** An id that names no plugin. */
import type { CommandIO } from 'newt-agent';
import { didYouMean } from '../kernel/near.ts';
import { refuse } from './report.ts';

/** Says so, with the nearest of `known`. @returns the exit code 2 */
export function unknownPlugin(id: string, known: readonly string[], io: CommandIO): 2 {
  return refuse(io, `there is no plugin "${id}"${didYouMean(id, known)}`, 'agent plugin list shows all');
}
