/** Results too large to show: kept whole in a file, shown head and tail. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** UTF-16 units of a tool result that reach the model. */
const shownLimit = 50_000;
const headShare = 0.4;

export async function fitResult(text: string, folder: string, name: string): Promise<{ text: string; spilled?: string }> {
  if (text.length <= shownLimit) return { text };
  const head = cutAtLine(text.slice(0, shownLimit * headShare), 'end');
  const tail = cutAtLine(text.slice(text.length - shownLimit * (1 - headShare)), 'start');
  const file = join(folder, `${name.replace(/[^\w-]/g, '_')}.txt`);
  let where: string;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(file, text, { mode: 0o600 });
    where = `the whole result is in ${file}`;
  } catch (error) {
    return { text: `${head}\n… ${text.length - head.length - tail.length} characters are left out; they could not be kept (${(error as Error).message}) …\n${tail}` };
  }
  return { text: `${head}\n… ${text.length - head.length - tail.length} characters are left out here; ${where} …\n${tail}`, spilled: file };
}

/** Cuts at a line break where one is near, and never between the halves of a character. */
function cutAtLine(text: string, side: 'start' | 'end'): string {
  if (side === 'end') {
    const at = text.lastIndexOf('\n');
    return (at > text.length - 2_000 ? text.slice(0, at) : text).replace(/[\ud800-\udbff]$/, '');
  }
  const at = text.indexOf('\n');
  return (at >= 0 && at < 2_000 ? text.slice(at + 1) : text).replace(/^[\udc00-\udfff]/, '');
}
