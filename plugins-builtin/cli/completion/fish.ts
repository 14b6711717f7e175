/** The script for fish. */
import type { CompletionTable, Source } from './table.ts';
import { stale } from './text.ts';

export function fishScript(table: CompletionTable): string {
  const level = table.map(({ path, commands, options }) => `        case ${quoted(path)}\n            set commands ${list(commands.map(({ text }) => text))}; set valued ${list(options.filter(({ value }) => value).map(({ text }) => text))}`).join('\n');
  return `# fish completion for agent
#
# To install it:
#   agent completion fish > ~/.config/fish/completions/agent.fish
# or for one session:
#   agent completion fish | source
${stale('#')}

function __agent_level --no-scope-shadowing
    switch $place
${level}
    end
end

# Whether the words so far lead to the command $argv[1], with $argv[2] arguments behind it; what an option takes is none.
function __agent_at
    set -l place ''
    set -l position 0
    set -l taking ''
    set -l commands
    set -l valued
    __agent_level
    for word in (commandline -opc)[2..]
        if test -n "$taking"
            set taking ''
        else if string match -q -- '-*' $word
            contains -- $word $valued; and set taking $word
        else if test $position -eq 0; and contains -- $word $commands
            set place (string trim -- "$place $word")
            __agent_level
        else
            set position (math $position + 1)
        end
    end
    test "$place" = "$argv[1]"; or return 1
    test (count $argv) -lt 2; and return 0
    test -z "$taking"; or return 1
    test $position -eq $argv[2]; or begin; test "$argv[3]" = more; and test $position -ge $argv[2]; end
end

complete -c agent -f
${table.flatMap(lines).join('\n')}`;
}

function lines({ path, commands, options, arguments: given }: CompletionTable[number]): string[] {
  const at = `-n ${quoted(`__agent_at ${quoted(path)}`)}`;
  const atPosition = (position: number, more = false): string => `-n ${quoted(`__agent_at ${quoted(path)} ${position}${more ? ' more' : ''}`)}`;
  return [
    ...commands.map(({ text, description }) => `complete -c agent ${atPosition(0)} -a ${quoted(text)} -d ${quoted(description)}`),
    ...options.map(({ text, description, value }) => `complete -c agent ${at} ${text.startsWith('--') ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`}${value ? ` ${value.source === 'files' ? '-r' : '-x'}${fill(value.source)}` : ''} -d ${quoted(description)}`),
    ...given.flatMap(({ source, variadic }, index) => (source === undefined ? [] : [`complete -c agent ${atPosition(index, variadic)}${fill(source)}`])),
  ];
}

function fill(source: Source): string {
  if (source === undefined) return '';
  if (source === 'files') return ' -F';
  if (source === 'folders') return " -a '(__fish_complete_directories (commandline -ct))'";
  return source === 'plugins' ? " -a '(agent __complete plugins 2>/dev/null)'" : ` -a ${quoted(source.words.join(' '))}`;
}

function list(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

/** fish knows two escapes between single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
