/** Results too large to show: kept whole in a file, shown head and tail. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from 'newt-agent';

/** UTF-16 units of a tool result that reach the model. */
const shownLimit = 50_000;
const headShare = 0.4;
/** Servers choose the ids of calls, at any length. */
const nameLimit = 100;

export async function fitResult(text: string, folder: string, name: string): Promise<{ text: string; spilled?: string }> {
  if (text.length <= shownLimit) return { text };
  const head = cutAtLine(text.slice(0, shownLimit * headShare), 'end');
  const tail = cutAtLine(text.slice(text.length - shownLimit * (1 - headShare)), 'start');
  const left = text.length - head.length - tail.length;
  try {
    makeFolder(folder);
    const spilled = await keep(text, folder, name.replace(/[^\w-]/g, '_').slice(0, nameLimit));
    return { text: `${head}\n… ${left} characters are left out here; the whole result is in ${spilled} …\n${tail}`, spilled };
  } catch (error) {
    return { text: `${head}\n… ${left} characters are left out; they could not be kept (${(error as Error).message}) …\n${tail}` };
  }
}

/** Writes a file of its own: names can meet once they are made safe, and an earlier result is not lost to a later one. */
async function keep(text: string, folder: string, name: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const file = join(folder, `${name}${n === 1 ? '' : `-${n}`}.txt`);
    try {
      await writeFile(file, text, { mode: 0o600, flag: 'wx' });
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
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
