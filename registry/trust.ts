/** `agent trust status`, `grant` and `revoke` */
import { join } from 'node:path';
import { type Command, command, type CommandIO, configControl, kernelControl, type PluginContext, shellWord, shortPath, trustControl, wrap } from 'newt-agent';
import type { TrustStatus } from '../kernel/trust/trust.ts';
import { textColumns } from './layout.ts';
import { failed, refused, reporting } from './report.ts';
import { contentLines, nothingCovered, type TrustContent, trustContent } from './trust-content.ts';

const noFolder = 'this folder belongs to no project with an .agent folder: there is nothing to trust';

/** Prints whether the project is trusted, and what trust covers or would cover. */
export function trustStatusCommand(p: PluginContext): Command {
  return command({
    description: 'Show whether this project is trusted, and what trust covers',
    options: [{ flags: '--json', description: 'Print JSON' }],
    examples: ['agent trust status', 'agent trust status --json'],
    run: reporting(({ options }, { io }) => {
      const { cwd } = options;
      const { trust, folder } = p.use(trustControl);
      if (folder === undefined) {
        if (options['json']) io.json({ folder: null, status: 'nothing-to-trust', reason: null, granted: null, ...nothingCovered });
        else io.print(sentence(noFolder));
        return 0;
      }
      const answer = trust.status(folder);
      const granted = trust.list().find((record) => record.folder === folder)?.granted;
      const content = answer.digest === undefined ? nothingCovered : contentOf(folder, p);
      if (options['json']) {
        io.json({ folder, status: answer.status, reason: answer.reason ?? null, granted: granted ?? null, ...content });
        return 0;
      }
      for (const line of wrap(`${io.style.cyan(shortPath(folder))} ${describeStatus(answer, granted, io)}`, textColumns(io), 2)) io.print(line);
      if (answer.digest !== undefined) for (const line of contentLines(content, io.style, textColumns(io))) io.print(line);
      if (answer.digest !== undefined && answer.status !== 'trusted') io.say(`Its plugins and these settings have no effect until you run: agent trust grant${typeof cwd === 'string' ? ` --cwd ${shellWord(cwd)}` : ''}`);
      return 0;
    }),
  });
}

/** Trusts the content that it prints: the command is the person's word, so nothing is asked. */
export function grantCommand(p: PluginContext): Command {
  return command({
    description: 'Trust this project as it is now: its plugins and settings take effect',
    examples: ['agent trust status', 'agent trust grant'],
    run: reporting((_, { io }) => {
      const { trust, folder } = p.use(trustControl);
      if (folder === undefined) throw refused(noFolder, 'run it inside of the project, or name its folder with --cwd');
      const { status, digest, reason } = trust.status(folder);
      if (status === 'nothing-to-trust') throw refused(`${shortPath(folder)} holds no files: there is nothing to trust`);
      if (status === 'trusted') {
        io.print(`${shortPath(folder)} is trusted already.`);
        return 0;
      }
      if (digest === undefined) throw failed(`${shortPath(folder)} cannot be trusted: ${reason ?? 'it cannot be read'}`, 'correct that, then try again');
      const content = contentOf(folder, p);
      trust.grant(folder, digest);
      io.print(`Trusted ${io.style.cyan(shortPath(folder))}`);
      for (const line of contentLines(content, io.style, textColumns(io))) io.print(line);
      io.say('This takes effect at the next start. Whatever changes in that folder needs a new grant.');
      return 0;
    }),
  });
}

/** Takes trust back. Not being trusted is no failure. */
export function revokeCommand(p: PluginContext): Command {
  return command({
    description: 'Take trust in this project back',
    examples: ['agent trust revoke'],
    run: reporting((_, { io }) => {
      const { trust, folder } = p.use(trustControl);
      if (folder === undefined) throw refused(noFolder, 'run it inside of the project, or name its folder with --cwd');
      if (!trust.revoke(folder)) {
        io.print(`${shortPath(folder)} is not trusted.`);
        return 0;
      }
      io.print(`Revoked trust in ${io.style.cyan(shortPath(folder))}`);
      io.say('Its plugins, and the settings that need trust, have no effect from the next start on.');
      return 0;
    }),
  });
}

function contentOf(folder: string, p: PluginContext): TrustContent {
  return trustContent(folder, p.use(configControl).keys(), join(p.use(kernelControl).paths.cache, 'empty'));
}

function describeStatus({ status, reason }: TrustStatus, granted: string | undefined, { style }: CommandIO): string {
  const since = granted?.slice(0, 10) ?? 'an earlier day';
  if (reason !== undefined) return `${style.red('cannot be trusted')}: ${reason}`;
  switch (status) {
    case 'trusted':
      return `is ${style.green('trusted')} since ${since}`;
    case 'changed':
      return `has ${style.yellow('changed')} since it was trusted on ${since}`;
    case 'untrusted':
      return `is ${style.yellow('not trusted')}`;
    case 'nothing-to-trust':
      return 'holds no files: there is nothing to trust';
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
