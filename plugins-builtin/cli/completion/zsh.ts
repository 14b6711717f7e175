/** The script for zsh. */
import type { CompletionTable, Source, Word } from './table.ts';
import { quoted, stale } from './text.ts';

export function zshScript(table: CompletionTable): string {
  const values = table.flatMap(({ path, options, arguments: given }) => [
    ...options.flatMap(({ text, value }) => (value ? [`    ${quoted(`${path} ${text}`)}) ${fill(value.source)} ;;`] : [])),
    ...given.map(({ source, variadic }, index) => `    ${quoted(`${path} ${index}`)}${variadic ? `|${quoted(`${path} `)}[0-9]*` : ''}) ${fill(source)} ;;`),
  ]);
  return `#compdef agent
# zsh completion for agent
#
# To install it:
#   mkdir -p ~/.zfunc && agent completion zsh > ~/.zfunc/_agent
# and in ~/.zshrc, before compinit:
#   fpath+=~/.zfunc; autoload -Uz compinit && compinit
# or, after compinit:
#   source <(agent completion zsh)
${stale('#')}

_agent() {
  local path_='' word taking='' position=0 index
  local -a commands options valued
  _agent_level
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    if [[ -n $taking ]]; then taking=''; continue; fi
    if [[ $word == -*=* ]]; then continue; fi
    if [[ $word == -* ]]; then
      if (( \${valued[(Ie)$word]} )); then taking="$word"; fi
    elif [[ $position == 0 ]] && (( \${commands[(I)$word:*]} )); then
      path_="\${path_:+$path_ }$word"
      _agent_level
    else
      position=$((position + 1))
    fi
  done
  local current="\${words[CURRENT]}"
  if [[ -z $taking && $current == --*=* ]]; then taking="\${current%%=*}"; compset -P '*='; fi
  if [[ -z $taking && $current == -* ]]; then _describe -o option options; return; fi
  if [[ -z $taking && $position == 0 && \${#commands} -gt 0 ]]; then _describe command commands; fi
  case "$path_ \${taking:-$position}" in
${values.join('\n')}
  esac
}

_agent_level() {
  case "$path_" in
${table.map(({ path, commands, options }) => `    ${quoted(path)}) commands=(${described(commands)}) options=(${described(options)}) valued=(${options.filter(({ value }) => value).map(({ text }) => quoted(text)).join(' ')}) ;;`).join('\n')}
  esac
}

if [[ $funcstack[1] == _agent ]]; then _agent "$@"; else compdef _agent agent; fi`;
}

function described(words: readonly Word[]): string {
  return words.map(({ text, description }) => quoted(`${text}:${description.replaceAll(/[\\:]/g, '\\$&')}`)).join(' ');
}

function fill(source: Source): string {
  if (source === undefined) return ':';
  if (source === 'files') return '_files';
  if (source === 'folders') return '_files -/';
  return source === 'plugins' ? 'compadd -- ${(f)"$("${words[1]}" __complete plugins 2>/dev/null)"}' : `compadd -- ${source.words.map(quoted).join(' ')}`;
}
