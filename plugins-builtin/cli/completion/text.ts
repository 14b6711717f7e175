/** Text as scripts hold it. */

/** Text between single quotes, for bash and zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Says when to make the script again. */
export function stale(comment: string): string {
  return `${comment}\n${comment} Commands of plugins are in it as they were then: make it again after adding one.`;
}
