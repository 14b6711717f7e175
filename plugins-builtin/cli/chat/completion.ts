/** Completion in the editor: `/commands` at the start of a message, names of files behind `@`. */
import { type AutocompleteItem, type AutocompleteProvider, fuzzyFilter } from '@earendil-works/pi-tui';
import { printable } from 'newt-agent';
import type { ChatCommands } from './commands.ts';
import type { FileNames } from './file-names.ts';

const maxItems = 20;
/** The same start of a mention as in `mentions.ts`. */
const open = /(?:^|[\s([{<`'"])@(?:"([^"]*)|([^\s"]*))$/;

export function completion(commands: ChatCommands, files: FileNames): AutocompleteProvider {
  return {
    async getSuggestions(lines, cursorLine, cursorCol) {
      const before = (lines[cursorLine] ?? '').slice(0, cursorCol);
      if (cursorLine === 0 && /^\/[\w-]*$/.test(before)) return suggestion(before, commandItems(commands, before));
      const mention = open.exec(before);
      if (!mention) return null;
      const [, quoted, bare = ''] = mention;
      return suggestion(quoted === undefined ? `@${bare}` : `@"${quoted}`, fileItems(files(), quoted ?? bare));
    },
    applyCompletion(lines, cursorLine, cursorCol, { value }, prefix) {
      const line = lines[cursorLine] ?? '';
      const start = cursorCol - prefix.length;
      // A folder is on the way to a file.
      const end = value.endsWith('/') || (value.startsWith('/') && !commands.get(value.slice(1))?.argument) ? '' : ' ';
      const changed = line.slice(0, start) + value + end + line.slice(cursorCol);
      return { lines: lines.map((old, index) => (index === cursorLine ? changed : old)), cursorLine, cursorCol: start + value.length + end.length };
    },
    // There is nothing to complete elsewhere.
    shouldTriggerFileCompletion: (lines, cursorLine, cursorCol) => open.test((lines[cursorLine] ?? '').slice(0, cursorCol)),
  };
}

function suggestion(prefix: string, items: AutocompleteItem[]) {
  return items.length > 0 ? { prefix, items } : null;
}

function commandItems(commands: ChatCommands, prefix: string): AutocompleteItem[] {
  return [...commands].filter(([name]) => `/${name}`.startsWith(prefix)).map(([name, { description }]) => ({ value: `/${name}`, label: `/${name}`, description }));
}

function fileItems(names: readonly string[], wanted: string): AutocompleteItem[] {
  // What hides itself is offered to those who ask for it; what could steer the terminal, to nobody.
  const visible = names.filter((name) => printable(name) === name && (wanted.includes('.') || !/(?:^|\/)\./.test(name)));
  const starting = visible.filter((name) => name.startsWith(wanted));
  const found = starting.length > 0 && wanted.endsWith('/') ? starting.slice(1) : [...new Set([...starting, ...(wanted ? fuzzyFilter([...visible], wanted, (name) => name) : [])])];
  return found.slice(0, maxItems).map((name) => ({ value: /\s/.test(name) ? `@"${name}"` : `@${name}`, label: name.replace(/\s+/g, ' ') }));
}
