/** `agent chat`: what of it every start knows. The rest is loaded when somebody chats. */
import { command, type Command, type PluginContext } from 'newt-agent';

export function chatCommand(p: PluginContext): Command {
  return command({
    description: 'Talk with the agent in this folder',
    arguments: [{ name: 'prompt', description: 'The first message. Where standard input is no terminal, each of its lines is one more', variadic: true }],
    options: [
      { flags: '-m, --model <provider/model>', description: 'Model to use' },
      { flags: '-y, --yes', description: 'Write files and run commands without asking' },
      { flags: '--max-rounds <n>', description: 'Stop after this many rounds for a message' },
      { flags: '-c, --continue', description: 'Go on with the last session of this folder' },
      { flags: '--cwd <folder>', description: 'Folder to work in' },
    ],
    examples: ['agent chat', 'agent chat "what does @src/parser.ts do?"', 'agent chat --continue', 'printf "list the TODOs\\nfix the first\\n" | agent chat --yes'],
    run: async (invocation, { io, signal }) => (await import('./chat.ts')).chat(p, invocation, io, signal),
  });
}
