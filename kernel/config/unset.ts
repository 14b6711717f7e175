/** Takes a key out of a configuration file; every other byte stays. */
import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isScalar, type Node, type Pair } from 'yaml';
import { writeAtomic } from '../atomic-write.ts';
import { changing, openConfigFile, readConfigText } from './file.ts';
import { at, isTree, type Path, type Tree, without } from './tree.ts';

/**
 * Removes the dotted `key`, and the maps above it that hold nothing else. Comments on lines of their own stay.
 * @returns false where the file does not have the key
 * @throws KernelError what reading the file throws, `UNWRITABLE`
 */
export function unsetConfigValue(file: string, key: string): boolean {
  return changing(file, () => unset(file, key));
}

function unset(file: string, key: string): boolean {
  const before = readConfigText(file);
  const { document, tree } = openConfigFile(file, before);
  let path: Path = key.split('.');
  if (at(tree, path) === undefined) return false;
  while (path.length > 1 && Object.keys(at(tree, path.slice(0, -1)) as Tree).length === 1) path = path.slice(0, -1);
  writeAtomic(file, cut(before, document, path, without(tree, path), file) ?? rewritten(document, path));
  return true;
}

/** The text without the lines of the key; undefined where it has no lines of its own. */
function cut(text: string, document: Document, path: Path, expected: Tree, file: string): string | undefined {
  const mark = text.startsWith('\uFEFF') ? 1 : 0;
  const pair = pairAt(document, path);
  const start = pair?.key.range?.[0];
  const end = (pair?.value ?? pair?.key)?.range?.[1];
  if (start === undefined || end === undefined) return undefined;
  const from = text.lastIndexOf('\n', start + mark - 1) + 1;
  // The end of a block is the start of the line behind it; that of a word lies in its line.
  const last = end + mark;
  const next = text[last - 1] === '\n' && last > start + mark ? last : text.indexOf('\n', last) + 1 || text.length;
  const rest = text.slice(0, from) + text.slice(next);
  try {
    return isDeepStrictEqual(openConfigFile(file, rest).tree, expected) ? rest : undefined;
  } catch {
    return undefined; // The key shares its line with others.
  }
}

function pairAt(document: Document, path: Path): Pair<Node, Node | null> | undefined {
  const above = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap<Node, Node | null>(above) || above.flow) return undefined;
  return above.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)));
}

function rewritten(document: Document, path: Path): string {
  document.deleteIn(path);
  const empty = !isTree(document.toJS()) || Object.keys(document.toJS() as Tree).length === 0;
  if (empty && isMap(document.contents) && document.contents.items.length === 0) document.contents = null;
  return document.toString({ lineWidth: 0 });
}
