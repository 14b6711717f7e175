/** Questions in the middle of a view that goes on by itself. */
import type { Event, Question, SessionOptions, Style } from 'newt-agent';
import { questionText } from './question-text.ts';
import type { View } from './view.ts';

/** Shows a question and waits for yes or no; undefined when nobody can be asked or `signal` ends the waiting. */
type Confirm = (question: string, signal: AbortSignal) => Promise<boolean | undefined>;

type Asking = Required<Pick<SessionOptions, 'ask'>> & { readonly show: (event: Event) => void };

/** Lets the view be asked of, and keeps it still while the person reads and types. */
export function withQuestions(view: () => Pick<View, 'show' | 'hasShown'>, confirm: Confirm, style: Style, columns: () => number): Asking {
  let asking = 0;
  const waiting: Event[] = [];
  const ask = async (question: Question, signal: AbortSignal): Promise<boolean | undefined> => {
    asking += 1;
    try {
      const { preview, ...bare } = question;
      const isKnown = preview !== undefined && view().hasShown?.(question.call, preview);
      return await confirm(questionText(isKnown ? bare : question, style, columns()), signal);
    } finally {
      asking -= 1;
      if (asking === 0) for (const event of waiting.splice(0)) view().show(event);
    }
  };
  return { ask, show: (event) => void (asking > 0 ? waiting.push(event) : view().show(event)) };
}
