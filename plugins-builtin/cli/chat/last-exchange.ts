/** What a session was at when it ended, shortened: what the person said last, and the answer. */
import { type Event, printable, type Style, truncate } from 'newt-agent';
import { saidText } from '../said-text.ts';

const maxSaid = 3;
const maxAnswer = 6;

export function lastExchange(events: readonly Event[], style: Style, columns: number): string {
  const at = events.findLastIndex(({ type }) => type === 'user');
  const user = events[at];
  if (user?.type !== 'user') return style.dim('nothing was said in the last session');
  const after = events.slice(at);
  const stop = after.findLast((event) => event.type === 'stop');
  const spoken = after.findLast((event) => event.type === 'assistant' && event.data.text.trim() !== '');
  const answer = stop?.type === 'stop' && stop.data.code === 0 ? stop.data.text : spoken?.type === 'assistant' ? spoken.data.text : '';
  const lines = printable(answer).trim().split('\n').map((line) => truncate(line.replaceAll('\t', '    '), columns));
  const rest = lines.length - maxAnswer;
  const end = stop === undefined ? ['(it did not come to its end)'] : stop.type === 'stop' && stop.data.code !== 0 ? [`(${truncate(printable(stop.data.text).replace(/\s+/g, ' '), columns - 2)})`] : [];
  return ['', saidText(user.data.text, style, maxSaid), '', ...[...lines.slice(0, maxAnswer), ...(rest > 0 ? [`… ${rest} more lines`] : []), ...end].filter((line, index) => line || index > 0).map(style.dim)].join('\n');
}
