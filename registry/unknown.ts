/** An id that names no plugin. */
import type { OperationalError } from 'newt-agent';
import { didYouMean } from '../kernel/near.ts';
import { refused } from './report.ts';

/** Says so, with the nearest of `known`. */
export function unknownPlugin(id: string, known: readonly string[]): OperationalError {
  return refused(`there is no plugin "${id}"${didYouMean(id, known)}`, 'agent plugin list shows all');
}
