/** What a person is shown before they say yes to a tool call. */
import { type Question, revealed, type Style, wrap } from 'newt-agent';

const maxPreviewLines = 60;

/** Reason, preview and question. Nothing in it can steer the terminal, or look like what it is not. */
export function questionText({ question, reason, preview }: Question, style: Style, columns = Infinity): string {
  const lines = preview === undefined ? [] : previewLines(preview, style);
  const sentence = (text: string, format: (line: string) => string): string[] => wrap(`  ${revealed(text)}`, columns).map(format);
  return [...sentence(reason, style.dim), ...lines.map((line) => `    ${line}`), ...sentence(question, style.bold)].join('\n');
}

function previewLines(preview: string, style: Style): string[] {
  const lines = revealed(preview).trimEnd().split('\n');
  const isDiff = lines.some((line) => line.startsWith('@@ '));
  const shown = lines.slice(0, maxPreviewLines).map((line) => (isDiff ? diffLine(line, style) : line));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, style.dim(`… ${rest} more ${rest === 1 ? 'line' : 'lines'}`)] : shown;
}

function diffLine(line: string, style: Style): string {
  if (line.startsWith('+++ ') || line.startsWith('--- ')) return style.bold(line);
  if (line.startsWith('+')) return style.green(line);
  if (line.startsWith('-')) return style.red(line);
  return line.startsWith('@@') ? style.cyan(line) : line;
}
