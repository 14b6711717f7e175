/** `agent completion`: the script that makes a shell complete this command. */
import { command, type Command, configControl, kernelControl, type PluginContext } from 'newt-agent';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { completionTable, type CompletionTable } from './table.ts';
import { zshScript } from './zsh.ts';

const scripts: Readonly<Record<string, (table: CompletionTable) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript };
const shells = Object.keys(scripts);

export function completionCommand(p: PluginContext): Command {
  return command({
    description: 'Print the script by which a shell completes commands, options, plugins and keys',
    arguments: [{ name: 'shell', description: shells.join(', '), required: true, values: shells }],
    examples: [
      'agent completion bash > ~/.local/share/bash-completion/completions/agent',
      'agent completion zsh > ~/.zfunc/_agent   # with fpath+=~/.zfunc before compinit in ~/.zshrc',
      'agent completion fish > ~/.config/fish/completions/agent.fish',
    ],
    async run({ arguments: { shell } }, { io }) {
      const script = scripts[String(shell)];
      if (!script) {
        io.say(`agent: there is no completion for ${JSON.stringify(shell)}\n  there is: ${shells.join(', ')}`);
        return 2;
      }
      await p.activate('commands');
      const commands = new Map([...p.items('commands')].map(([path, { item }]) => [path, item]));
      io.print(script(completionTable(commands, p.use(configControl).keys().map(({ key }) => key), p.use(kernelControl).hooks().map(({ name }) => name))));
      return 0;
    },
  });
}
