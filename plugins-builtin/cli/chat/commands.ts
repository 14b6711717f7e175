/** What begins with a slash: a table, so that more can join it. */
import { closest, configControl, type PluginContext, printable, shortPath, type Style, table } from 'newt-agent';
import { short } from '../run-totals.ts';
import type { Conversation } from './conversation.ts';

/** What a command may do. */
export interface ChatControl {
  readonly p: PluginContext;
  readonly conversation: Conversation;
  readonly cwd: string;
  readonly style: Style;
  readonly columns: number;
  readonly commands: ChatCommands;
  /** Shows lines that stay. */
  print(text: string): void;
  /** Ends the chat. */
  leave(): void;
}

export interface ChatCommand {
  readonly description: string;
  /** How its argument is shown: `[name]`. */
  readonly argument?: string;
  /** @throws OperationalError or KernelError, which is shown */
  run(chat: ChatControl, argument: string): void | Promise<void>;
}

export type ChatCommands = ReadonlyMap<string, ChatCommand>;

const commandLine = /^\/([a-z][\w-]*)(?:\s+(.*))?$/is;

/**
 * Runs the command that `text` is. A path such as `/etc/hosts` is none, nor is what begins with a blank.
 * @returns false when it is a message
 */
export async function runChatCommand(text: string, chat: ChatControl): Promise<boolean> {
  const [, word, argument = ''] = commandLine.exec(text) ?? [];
  if (word === undefined) return false;
  const found = chat.commands.get(word.toLowerCase());
  if (found) await found.run(chat, argument.trim());
  else {
    const near = closest(word.toLowerCase(), chat.commands.keys()).map((name) => `/${name}`);
    chat.print(chat.style.yellow(`there is no /${word}${near.length ? `; did you mean ${near.join(' or ')}?` : ': /help shows what there is'}`) + chat.style.dim(' (a blank in front makes it a message)'));
  }
  return true;
}

export const chatCommands: ChatCommands = new Map<string, ChatCommand>([
  ['help', { description: 'Show commands and keys', run: help }],
  ['status', { description: 'Show model, mode, folder and log', run: status }],
  ['model', { description: 'Show the models, or use another', argument: '[name]', run: model }],
  ['context', { description: 'Show what the next request is made of', run: context }],
  ['cost', { description: 'Show the tokens used', run: cost }],
  ['clear', { description: 'Begin a new session', run: clear }],
  ['exit', { description: 'Leave', run: (chat) => chat.leave() }],
]);

const keys: readonly (readonly [key: string, what: string])[] = [
  ['Enter', 'Send; while the agent works, as a message to it'],
  ['Alt-Enter, Ctrl-J, \\ Enter', 'New line'],
  ['Esc, Ctrl-C', 'Cancel what is at work; Ctrl-C twice leaves'],
  ['Up, Down', 'Earlier messages'],
  ['Tab', 'Complete /commands and @files'],
  ['Ctrl-L · Ctrl-D', 'Clear the screen · leave'],
];

function help({ commands, print, style }: ChatControl): void {
  const rows = [...commands].map(([name, { argument, description }]) => [`/${name}${argument ? ` ${argument}` : ''}`, description] as const);
  const all: readonly (readonly [string, string])[] = [...rows, ['@file', 'Attach a file of this folder'], ...keys];
  const width = Math.max(...all.map(([left]) => left.length));
  print(all.map(([left, right]) => `  ${left.padEnd(width)}  ${style.dim(right)}`).join('\n'));
}

function facts({ print, style }: ChatControl, rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([left]) => left.length));
  print(rows.map(([left, right]) => `  ${style.dim(left.padEnd(width))}  ${printable(right)}`).join('\n'));
}

function status(chat: ChatControl): void {
  const { session } = chat.conversation;
  const { model: name, scripted, mode, requests, toolCalls, tokens } = session.status();
  facts(chat, [
    ['model', `${name}${scripted ? ' (scripted)' : ''}`],
    ['mode', modeText(chat.p, mode)],
    ['folder', shortPath(chat.cwd)],
    ['session', session.id],
    ['log', shortPath(session.file)],
    ['so far', `${counted(requests, 'request')} · ${counted(toolCalls, 'tool call')} · ${short(tokens.input)} tokens in · ${short(tokens.output)} out`],
  ]);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** What a session may do unasked: as it was opened, else as it is configured. */
export function modeText(p: PluginContext, mode: string | undefined): string {
  return (mode ?? p.use(configControl).config.get('permissions.mode')) === 'auto' ? 'does not ask inside the workspace' : 'asks before it writes or runs';
}

async function model(chat: ChatControl, name: string): Promise<void> {
  const { p, conversation, print, style, columns } = chat;
  if (name) {
    await conversation.session.useModel(name);
    return print(style.dim(`the model is ${conversation.session.status().model} from the next request on`));
  }
  await p.activate('providers');
  const { config } = p.use(configControl);
  const known = [config.get('model'), ...[config.get('fallback_models') ?? []].flat()].filter((one): one is string => typeof one === 'string');
  const now = conversation.session.status().model;
  const providers = [...p.items('providers')].map(([id, { item }]) => [`${id}/…`, item.label]);
  // `AGENT_MODEL=name` names the model in use without its provider.
  const models = [...new Set([now, ...known.filter((one) => !now.endsWith(`/${one}`))])].map((one) => [one, one === now ? 'in use' : 'configured']);
  print(table([...models, ...providers], [{ title: 'MODEL' }, { title: 'WHAT', style: style.dim }], { width: columns, titleStyle: style.bold }));
  print(style.dim('/model <provider/model> uses another'));
}

function context(chat: ChatControl): void {
  const { messages, tokens, bytes } = chat.conversation.session.status().context;
  const kilobytes = (count: number): string => `${(count / 1_000).toFixed(1)} kB`;
  facts(chat, [
    ['last request', messages === 0 ? 'none yet' : tokens === undefined ? 'the server did not say how many tokens' : `${short(tokens)} tokens`],
    ['system text', kilobytes(bytes.system)],
    ['tools', kilobytes(bytes.tools)],
    ['conversation', `${kilobytes(bytes.conversation)} in ${counted(messages, 'message')}`],
  ]);
}

function cost(chat: ChatControl): void {
  const { tokens, requests } = chat.conversation.session.status();
  facts(chat, [
    ['tokens in', short(tokens.input)],
    ['tokens out', short(tokens.output)],
    ['requests', String(requests)],
  ]);
}

async function clear({ conversation, print, style }: ChatControl): Promise<void> {
  if (conversation.isBusy) return print(style.yellow('the agent is at work: cancel it first'));
  await conversation.renew();
  print(style.dim('a new session: the agent remembers nothing of the last one'));
}
