import { definePlugin, type Prompt, tool, z } from 'newt-agent';

/** What the model can call. Its input is checked against the schema before `run` sees it. */
export const greet = tool({
  description: 'Greet a person by name.',
  input: z.object({ name: z.string().min(1).describe('Who to greet') }),
  effect: 'read', // it changes nothing; 'write', 'exec' and 'net' are asked for before they run
  run: ({ name }) => `Hello, ${name}!`,
});

/** A tap. It answers the next prompt instead of changing the one it is given, which is frozen. */
export function mentionGreeting(prompt: Prompt): Prompt {
  return { ...prompt, sections: [...prompt.sections, { id: 'hello', text: 'To greet somebody, call the tool hello_greet.' }] };
}

// The first argument is known before any code runs; package.json repeats it for people who only look.
// The second is the setup: it runs once, and what it returns appears all at once or, if it throws, not at all.
// Its argument `p` is the way to everything else: p.config, p.log, p.state, p.exec, p.fetch, p.fs, p.every, …
export default definePlugin({ id: 'hello' }, () => ({
  tools: { hello_greet: greet },
  hooks: { 'prompt.build': mentionGreeting },
}));
