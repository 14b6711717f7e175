import { definePlugin, type ToolOutcome } from 'newt-agent';

/** What looks like the key of a service. */
const key = /\b(?:sk|ghp|glpat|xox[bp])[-_][\w-]{16,}/g;

/** A tap. It answers the next value instead of changing the one it is given, which is frozen. */
export function maskKeys(result: ToolOutcome): ToolOutcome {
  const text = result.text.replace(key, '(a key)');
  return text === result.text ? result : { ...result, text };
}

// The first argument is known before any code runs; package.json repeats it for people who only look.
// The second is the setup: it runs once, and what it returns appears all at once or, if it throws, not at all.
// Its argument `p` is the way to everything else: p.config, p.log, p.state, p.exec, p.fetch, p.fs, p.every, …
export default definePlugin({ id: 'hello' }, (p) => ({
  hooks: {
    'session.start': ({ cwd }) => p.log.info(`hello looks after the keys in ${cwd}`),
    // Last, so that it sees what the other plugins made of it. All hooks: agent plugin why <hook>
    'tool.after': { stage: 'post', run: maskKeys },
  },
}));
