/** Colour, where it can be seen. */
import { styleText } from 'node:util';
import type { Style } from 'newt-agent';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Styles for one output stream: off unless it is a terminal, by NO_COLOR (https://no-color.org) and for
 * TERM=dumb; FORCE_COLOR overrules all of these, in both directions.
 */
export function styleFor(isTerminal: boolean, env: Environment): Style {
  const forced = env['FORCE_COLOR'];
  const on = forced ? !['0', 'false'].includes(forced) : isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  const style = (format: Parameters<typeof styleText>[0]) => (text: string) => (on && text ? styleText(format, text, { validateStream: false }) : text);
  return { bold: style('bold'), dim: style('dim'), red: style('red'), green: style('green'), yellow: style('yellow'), cyan: style('cyan') };
}
