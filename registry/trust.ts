/** `agent trust status`, `grant` and `revoke` */
import { type Command, type CommandIO, command, type PluginContext, type TrustControl, trustControl } from 'newt-agent';
import type { TrustStatus } from '../kernel/trust.ts';
import { shortPath } from './layout.ts';
import { fail, refuse, reporting } from './report.ts';
import { type TrustContent, contentLines, trustContent } from './trust-content.ts';

type Settled = TrustStatus & { readonly folder: string; readonly granted: string | undefined; readonly content: TrustContent | undefined };

export function trustStatusCommand(p: PluginContext): Command {
  return command({
    description: 'Show whether this project is trusted, and what trust covers',
    options: [{ flags: '--json', description: 'Print JSON' }],
    examples: ['agent trust status', 'agent trust status --json'],
    run: reporting((_, { io }) => {
      return 0;
    }),
  });
}
