import { command, definePlugin } from 'newt-agent';

/** What `agent hello` runs. It answers the exit code: 0 done, 1 failed, 2 usage or configuration. */
export const greet = command({
  description: 'Greet a person by name',
  arguments: [{ name: 'name', description: 'Who to greet', required: true }],
  options: [{ flags: '--json', description: 'Print JSON' }],
  examples: ['agent hello Ada', 'agent hello Ada --json'],
  run: ({ arguments: { name }, options }, { io }) => {
    const greeting = `Hello, ${String(name)}!`;
    if (options['json']) io.json({ greeting });
    else io.print(greeting); // results go to io.print, remarks to io.say
    return 0;
  },
});

// The first argument is known before any code runs; package.json repeats it for people who only look.
// The second is the setup: it runs once, and what it returns appears all at once or, if it throws, not at all.
// Its argument `p` is the way to everything else: p.config, p.log, p.state, p.exec, p.fetch, p.fs, p.every, …
export default definePlugin({ id: 'hello' }, () => ({
  commands: { hello: greet },
}));
