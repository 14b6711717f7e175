/**
 * Type tests: never run, checked by `tsc` in every type check. The example of the design compiles as it
 * stands; each line under `@ts-expect-error` must fail, for the reason beside it.
 */
import { allow, definePlugin, defineService, deny, type Fault, tool, z } from 'newt-agent';

// The example of section 4 of the design, word for word.
export const example = definePlugin(
  { id: 'git', capabilities: ['exec'], config: z.object({ protect: z.array(z.string()).default(['main']) }) },
  (p) => ({
    tools: {
      git_status: tool({
        description: 'Show the working-tree status.',
        input: z.object({ path: z.string().optional() }),
        effect: 'read',
        run: ({ path }, call) => p.exec('git', ['status', '--short', path ?? '.'], { signal: call.signal }),
      }),
    },
    hooks: {
      'prompt.build': (prompt) => ({ ...prompt, sections: [...prompt.sections, { id: 'git', text: 'Use git_status first.' }] }),
      'tool.after': { stage: 'post', run: (result) => result },
    },
  }),
);

const clock = defineService<{ read(): number }>('try.clock');

export const right = definePlugin({ id: 'right', config: z.object({ limit: z.number().default(1), mode: z.enum(['a', 'b']) }) }, async (p) => {
  const limit: number = p.config.limit;
  const mode: 'a' | 'b' = p.config.mode;
  p.provide(clock, { read: () => limit });
  const time: number = p.use(clock).read();
  const prompt = await p.call('prompt.build', { cwd: '/', sections: [] });
  const text: string | undefined = prompt.sections[0]?.text;
  const { verdict } = await p.call('input.submit', { session: '', cwd: '', text: '' });
  const blamed: (fault: Fault) => string | undefined = (fault) => fault.plugin;
  p.tap('model.delta', ({ kind }) => p.log.info(kind));
  p.log.info([mode, time, text, verdict, blamed.name].join());
  return {
    hooks: {
      'tool.gate': (use) => (use.effect === 'read' ? allow() : deny('no')),
      'model.error': async ({ attempt }) => (attempt < 2 ? { retry: true, after: 10 } : undefined),
      'turn.start': () => undefined,
      'tool.before': { before: ['other'], run: (use) => ({ ...use, input: { more: [1, null] } }) },
    },
  };
});

definePlugin({ id: 'wrong-config', config: z.object({ limit: z.number() }) }, (p) => {
  // @ts-expect-error a key the schema does not have
  p.log.info(p.config.limits);
  // @ts-expect-error a number is no string
  const text: string = p.config.limit;
  p.log.info(text);
});

definePlugin({ id: 'no-config' }, (p) => {
  // @ts-expect-error without a schema there is nothing to read
  const text: string = p.config.anything;
  p.log.info(text);
});

definePlugin({ id: 'wrong-hooks' }, (p) => {
  // @ts-expect-error there is no such hook
  p.tap('prompt.biuld', (prompt) => prompt);
  // @ts-expect-error the payload has no such member
  p.tap('prompt.build', (prompt) => ({ ...prompt, sections: prompt.section }));
  // @ts-expect-error a waterfall answers the next value
  p.tap('prompt.build', () => undefined);
  // @ts-expect-error the next value has the type of the payload
  p.tap('prompt.build', (prompt) => ({ ...prompt, sections: [{ id: 'x' }] }));
  // @ts-expect-error payloads are frozen
  p.tap('prompt.build', (prompt) => (prompt.sections.push({ id: 'x', text: '' }), prompt));
  // @ts-expect-error so are their members
  p.tap('tool.before', (use) => ((use.name = 'x'), use));
  // @ts-expect-error a gate answers a decision
  p.tap('tool.gate', () => true);
  // @ts-expect-error a verdict is one of three
  p.tap('tool.gate', () => ({ verdict: 'maybe' }));
  // @ts-expect-error a bail answers its result
  p.tap('model.error', () => ({ again: true }));
  // @ts-expect-error a synchronous hook takes no promise
  p.tap('model.delta', async () => undefined);
  // @ts-expect-error a stage is one of three
  p.tap('tool.after', { stage: 'late', run: (outcome) => outcome });
  // @ts-expect-error the payload of a call has the type of the hook
  void p.call('prompt.build', { cwd: 1, sections: [] });
  // @ts-expect-error nor can an unknown hook be called
  void p.call('prompt.biuld', {});
});

// @ts-expect-error an unknown hook in what setup returns
definePlugin({ id: 'wrong-return' }, () => ({ hooks: { 'prompt.biuld': (prompt: unknown) => prompt } }));

// @ts-expect-error a handler of the wrong type in what setup returns
definePlugin({ id: 'wrong-handler' }, () => ({ hooks: { 'tool.gate': () => 'yes' } }));

// @ts-expect-error there is no such contribution point
definePlugin({ id: 'wrong-point' }, () => ({ tolls: {} }));

// @ts-expect-error a tool has an input schema and an effect
definePlugin({ id: 'wrong-tool' }, () => ({ tools: { one: { description: 'x', run: () => 'x' } } }));

definePlugin({ id: 'wrong-items' }, (p) => {
  // @ts-expect-error an effect is one of four
  p.contribute('tools', 'one', { description: 'x', input: z.object({}), effect: 'none', run: () => 'x' });
  // @ts-expect-error there is no such contribution point
  p.contribute('tolls', 'one', {});
  // @ts-expect-error nor can it be read
  p.items('tolls');
  // @ts-expect-error a service has the type of its ref
  p.provide(clock, { read: () => 'noon' });
  // @ts-expect-error and no other members
  p.use(clock).write(1);
});

tool({
  description: 'x',
  input: z.object({ path: z.string() }),
  effect: 'read',
  // @ts-expect-error the input has the type of its schema
  run: ({ file }) => String(file),
});

tool({
  description: 'x',
  input: z.object({}),
  effect: 'read',
  // @ts-expect-error a tool answers text
  run: () => 42,
});

// @ts-expect-error a version is text
definePlugin({ id: 'wrong-facts', version: 1 }, () => undefined);
