/** Questions to the person: logged before they are shown, with every deadline stopped while they think. */
import type { KernelControl, PluginContext, Question, SessionOptions } from 'newt-agent';
import type { EventLog } from './event-log.ts';

/** Answers yes, no, or undefined when nobody can be asked. */
export type Asker = (question: Question, signal: AbortSignal) => Promise<boolean | undefined>;

export function createAsker(p: PluginContext, kernel: KernelControl, log: EventLog, session: { readonly id: string; readonly cwd: string }, ask: SessionOptions['ask']): Asker {
  return async (question, signal) => {
    log.write('tool.ask', { ...question });
    void p.call('notify', { session: session.id, cwd: session.cwd, about: 'ask', text: question.question }, signal);
    let answer: boolean | undefined;
    try {
      answer = ask ? await kernel.pausing(() => ask(question, signal)) : undefined;
      return answer;
    } finally {
      // A terminal that fails or is hung up answers too: nobody said yes.
      log.write('tool.answer', { call: question.call, allowed: answer === true, by: signal.aborted ? 'cancel' : answer === undefined ? 'nobody' : 'person' });
    }
  };
}
