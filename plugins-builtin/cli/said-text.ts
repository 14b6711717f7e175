/** What the person said, as it is shown again: short, and without the files that came with it. */
import { printable, type Style } from 'newt-agent';

const maxLines = 8;
/** How an attached file begins in a message; see `chat/mentions.ts`. */
const attachment = /\n\n<file path="([^"\n]*)">\n/g;

/** `› text`, with the lines behind the first under it; long texts are folded. */
export function saidText(text: string, { cyan, dim }: Style, most = maxLines): string {
  const files = [...text.matchAll(attachment)].map(([, path = '']) => printable(path));
  const said = printable(text.slice(0, text.search(attachment) < 0 ? undefined : text.search(attachment))).trim().replaceAll('\t', '    ');
  const lines = said.split('\n');
  const shown = lines.slice(0, lines.length > most ? most - 1 : most);
  const rest = lines.length - shown.length;
  return [
    ...shown.map((line, index) => `${index === 0 ? cyan('›') : ' '} ${line}`),
    ...(rest > 0 ? [dim(`  … ${rest} more lines`)] : []),
    ...files.map((path) => dim(`  + ${path}`)),
  ].join('\n');
}
