/** The script for bash; it needs no bash-completion. */
import type { CompletionTable, Source } from './table.ts';
import { quoted, stale } from './text.ts';

export function bashScript(table: CompletionTable): string {
  const cases = (lines: (command: CompletionTable[number]) => string): string => table.map((command) => `    ${quoted(command.path)}) ${lines(command)} ;;`).join('\n');
  const values = table.flatMap(({ path, options, arguments: given }) => [
    ...options.flatMap(({ text, value }) => (value ? [`    ${quoted(`${path} ${text}`)}) ${fill(value.source)} ;;`] : [])),
    ...given.map(({ source, variadic }, index) => `    ${quoted(`${path} ${index}`)}${variadic ? `|${quoted(`${path} `)}[0-9]*` : ''}) ${fill(source)} ;;`),
  ]);
  return `# bash completion for agent
#
# To install it:
#   mkdir -p ~/.local/share/bash-completion/completions
#   agent completion bash > ~/.local/share/bash-completion/completions/agent
# or, without the package bash-completion, in ~/.bashrc:
#   source <(agent completion bash)
${stale('#')}

# Not compgen -W, which would run what stands in a word.
_agent_words() { local word; for word in $1; do if [[ $word == "$2"* ]]; then COMPREPLY+=("$word"); fi; done; }
_agent_files() { local word; compopt -o filenames 2>/dev/null; while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$1" -- "$2"); }

_agent() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word taking='' position=0 index commands options valued
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $taking ]]; then taking=''; continue; fi
    case "$path" in
${cases(({ commands, options }) => `commands=${quoted(` ${commands.map(({ text }) => text).join(' ')} `)} valued=${quoted(` ${options.filter(({ value }) => value).map(({ text }) => text).join(' ')} `)}`)}
    esac
    if [[ $word == -* ]]; then
      if [[ $valued == *" $word "* ]]; then taking="$word"; fi
    elif [[ $position == 0 && $commands == *" $word "* ]]; then
      path="\${path:+$path }$word"
    else
      position=$((position + 1))
    fi
  done
  if [[ $current == '=' ]]; then current=''; fi
  case "$path" in
${cases(({ commands, options }) => `commands=${quoted(commands.map(({ text }) => text).join(' '))} options=${quoted(options.map(({ text }) => text).join(' '))}`)}
  esac
  if [[ -z $taking && $current == -* ]]; then _agent_words "$options" "$current"; return; fi
  if [[ -z $taking && $position == 0 && -n $commands ]]; then _agent_words "$commands" "$current"; fi
  case "$path \${taking:-$position}" in
${values.join('\n')}
  esac
}

complete -F _agent agent`;
}

function fill(source: Source): string {
  if (source === undefined) return ':';
  if (source === 'files') return '_agent_files -f "$current"';
  if (source === 'folders') return '_agent_files -d "$current"';
  return source === 'plugins' ? '_agent_words "$("${COMP_WORDS[0]/#\~/$HOME}" __complete plugins 2>/dev/null)" "$current"' : `_agent_words ${quoted(source.words.join(' '))} "$current"`;
}
