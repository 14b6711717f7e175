/** The ways a plugin breaks: data for the fault table of `broken-plugins.test.ts`. */

export interface BrokenPlugin {
  readonly title: string;
  /** Module of the plugin `m-broken`, between `a-good` and `z-good`. */
  readonly code: string;
  /** The tool of it that the model calls. */
  readonly tool?: string;
  /** What tells this failure from all others: in the line of the person, in the text of the model, in the plugin list. */
  readonly cause: string;
  /** Where the line says it happened; loading needs no mention. */
  readonly where?: string;
  /** State after the first run, as a fresh start lists it. */
  readonly then: 'quarantined' | 'degraded';
  /** Milliseconds the first run spends waiting for the plugin, which the second must not spend again. */
  readonly waits?: number;
}

const head = "import { definePlugin, tool, z } from 'newt-agent';\n";
const plugin = (body: string): string => `${head}export default definePlugin({ id: 'm-broken', version: '1.0.0' }, (p) => {\n${body}\n});\n`;
const hook = (body: string): string => plugin(`return { hooks: { 'tool.before': ${body} } };`);
/** `session.start` is called once a run, so that one failure is one fault. */
const start = (body: string): string => plugin(`return { hooks: { 'session.start': ${body} } };`);
const tool = (run: string, more = '', input = 'z.object({})'): string => plugin(`return { tools: { broken: tool({ description: 'Breaks.', input: ${input}, effect: 'read', ${more} run: ${run} }) } };`);

export const brokenPlugins: readonly BrokenPlugin[] = [
  { title: 'throws at load', code: "throw new Error('no settings here');\n", cause: 'no settings here', then: 'quarantined' },
  { title: 'throws a string at load', code: "throw 'just words';\n", cause: 'threw just words', then: 'quarantined' },
  { title: 'has a syntax error', code: 'export default {\n  id: = 3,\n};\n', cause: 'm-broken.ts:2', then: 'quarantined' },
  { title: 'imports a missing package', code: "import nothing from 'a-package-nobody-installed';\nexport default nothing;\n", cause: 'imports "a-package-nobody-installed", which is not installed', then: 'quarantined' },
  { title: 'imports a missing file', code: "import nothing from './no-such-file.ts';\nexport default nothing;\n", cause: 'm-broken.ts:1 imports "./no-such-file.ts", which does not exist', then: 'quarantined' },
  { title: 'never loads: top-level await', code: 'await new Promise(() => {});\nexport default 1;\n', cause: 'm-broken.ts:1 did not finish loading', then: 'quarantined', waits: 1_500 },
  { title: 'calls process.exit at load', code: 'process.exit(0);\n', cause: 'called process.exit(0)', then: 'quarantined' },
  { title: 'exports nothing', code: 'export const id = 1;\n', cause: 'has no default export made with definePlugin()', then: 'quarantined' },
  { title: 'exports a function', code: 'export default function plugin() {}\n', cause: 'has no default export made with definePlugin()', then: 'quarantined' },
  { title: 'exports a class', code: 'export default class Plugin {}\n', cause: 'has no default export made with definePlugin()', then: 'quarantined' },

  { title: 'throws in setup', code: plugin("throw new RangeError('setup is out of range');"), cause: 'RangeError: setup is out of range', where: 'setup', then: 'quarantined' },
  { title: 'never comes through setup', code: plugin('return new Promise(() => {});'), cause: 'did not finish loading', then: 'quarantined', waits: 1_500 },
  { title: 'returns an array from setup', code: plugin('return [];'), cause: 'setup returned an array', where: 'setup', then: 'quarantined' },
  { title: 'returns a string from setup', code: plugin("return 'tools';"), cause: 'setup returned a string', where: 'setup', then: 'quarantined' },
  { title: 'contributes to a misspelt point', code: plugin('return { tolls: { broken: {} } };'), cause: 'there is no contribution point "tolls"; did you mean "tools"?', where: 'setup', then: 'degraded' },
  { title: 'contributes a tool without a description', code: plugin("return { tools: { broken: { input: z.object({}), effect: 'read', run: () => 'x' } } };"), cause: 'tools/broken needs a description', where: 'setup', then: 'quarantined' },
  { title: 'contributes a tool that is a function', code: plugin("return { tools: { broken: () => 'x' } };"), cause: 'tools/broken is function, not an object', where: 'setup', then: 'quarantined' },
  { title: 'contributes a tool whose schema only looks like one', code: tool("() => 'x'", '', '{ safeParse: () => 7 }'), cause: 'tools/broken needs an input schema made with z', where: 'setup', then: 'quarantined' },
  { title: 'gives a hook that is no function', code: plugin("return { hooks: { 'tool.before': 7 } };"), cause: 'hook tool.before is number, not a function', where: 'setup', then: 'quarantined' },
  { title: 'taps a hook that does not exist', code: plugin("return { hooks: { 'tool.befor': (use) => use } };"), cause: 'there is no hook "tool.befor"; did you mean "tool.before"?', where: 'setup', then: 'degraded' },

  { title: 'throws in a hook', code: start("() => { throw new TypeError('no such session'); }"), cause: 'TypeError: no such session', where: 'hook session.start', then: 'degraded' },
  { title: 'rejects in a hook', code: start("async () => { await null; throw new TypeError('late no'); }"), cause: 'TypeError: late no', where: 'hook session.start', then: 'degraded' },
  { title: 'hangs in a hook', code: hook('() => new Promise(() => {})'), cause: 'did not settle within 5000 ms', where: 'hook tool.before', then: 'degraded', waits: 5_000 },
  { title: 'calls process.exit in a hook', code: start('() => process.exit(3)'), cause: 'called process.exit(3)', where: 'hook session.start', then: 'degraded' },
  { title: 'calls process.exit in a hook, and swallows what that throws', code: start('() => { try { process.exit(3); } catch {} }'), cause: 'called process.exit(3)', where: 'process', then: 'degraded' },
  { title: 'floods the log in a hook', code: start('() => { for (let line = 0; line < 100_000; line += 1) console.log(line); }'), cause: 'log lines in a second', where: 'log', then: 'degraded' },
  { title: 'answers a string in a waterfall', code: hook("() => 'not a tool use'"), cause: 'answered with the wrong type (tool.before is a waterfall hook)', where: 'hook tool.before', then: 'degraded' },
  { title: 'answers nothing in a waterfall', code: hook('() => undefined'), cause: 'answered undefined (tool.before is a waterfall hook)', where: 'hook tool.before', then: 'degraded' },
  { title: 'adds prompt sections without text', code: plugin("return { hooks: { 'prompt.build': (prompt) => ({ ...prompt, sections: [{ id: 'x' }] }) } };"), cause: 'answered with the wrong type (prompt.build is a waterfall hook)', where: 'hook prompt.build', then: 'degraded' },
  { title: 'turns the result of a tool into a number', code: plugin("return { hooks: { 'tool.after': (result) => ({ ...result, text: 5 }) } };"), cause: 'answered with the wrong type (tool.after is a waterfall hook)', where: 'hook tool.after', then: 'degraded' },
  { title: 'changes a frozen payload', code: start("(session) => { session.cwd = '/'; }"), cause: "Cannot assign to read only property 'cwd'", where: 'hook session.start', then: 'degraded' },

  { title: 'reads a property of undefined in a tool', code: tool('(input) => input.settings.colour'), tool: 'broken', cause: "Cannot read properties of undefined (reading 'colour')", where: 'tools/broken', then: 'degraded' },
  { title: 'hangs in a tool', code: tool('() => new Promise(() => {})', 'deadline: 1,'), tool: 'broken', cause: 'did not settle within 1000 ms', where: 'tools/broken', then: 'degraded', waits: 1_000 },
  { title: 'calls process.exit in a tool', code: tool('async () => { await null; process.exit(4); }'), tool: 'broken', cause: 'called process.exit(4)', where: 'tools/broken', then: 'degraded' },
  { title: 'kills its own process in a tool', code: tool("() => process.kill(process.pid, 'SIGKILL')"), tool: 'broken', cause: 'called process.kill(', where: 'tools/broken', then: 'degraded' },
  { title: 'answers a number in a tool', code: tool('() => 7'), tool: 'broken', cause: 'answered with the wrong type', where: 'tools/broken', then: 'degraded' },
  { title: 'answers data that is no JSON in a tool', code: tool("() => ({ text: 'x', data: { at: () => 1 } })"), tool: 'broken', cause: 'at is function, not a JSON value', where: 'tools/broken', then: 'degraded' },
  { title: 'answers images that are none in a tool', code: tool("() => ({ text: 'x', images: [null] })"), tool: 'broken', cause: 'answered with the wrong type', where: 'tools/broken', then: 'degraded' },
  { title: 'throws in the schema of a tool', code: tool("() => 'x'", '', "z.object({}).refine(() => { throw new Error('bad refinement'); })"), tool: 'broken', cause: 'bad refinement', where: 'tools/broken.checkInput', then: 'degraded' },
  { title: 'tells of files a tool will touch in the wrong way', code: tool("() => 'x'", 'touches: () => [{ path: null, access: "read" }],'), tool: 'broken', cause: 'answered with the wrong type', where: 'tools/broken.touches', then: 'degraded' },

  { title: 'loops for ever at load', code: 'for (;;);\n', cause: 'did not come back within 3 s, and was interrupted', then: 'quarantined', waits: 3_000 },
  { title: 'loops for ever in setup', code: plugin('for (;;);'), cause: 'did not come back within 3 s, and was interrupted', where: 'setup', then: 'quarantined', waits: 3_000 },
  { title: 'loops for ever in a hook', code: start('() => { for (;;); }'), cause: 'did not come back within 3 s, and was interrupted', where: 'hook session.start', then: 'degraded', waits: 3_000 },
  { title: 'loops for ever in a hook between awaited ones, and catches everything', code: hook('async (use) => { for (;;) try { for (;;); } catch {} finally {} }'), cause: 'did not come back within 3 s, and was interrupted', where: 'hook tool.before', then: 'degraded', waits: 3_000 },
  { title: 'backtracks for ever in a hook', code: start("() => /^(a+)+$/.test('a'.repeat(50) + 'b')"), cause: 'did not come back within 3 s, and was interrupted', where: 'hook session.start', then: 'degraded', waits: 3_000 },
  { title: 'loops for ever in a tool', code: tool('() => { for (;;); }'), tool: 'broken', cause: 'did not come back within 3 s, and was interrupted', where: 'tools/broken', then: 'degraded', waits: 3_000 },
  { title: 'backtracks for ever in a tool', code: tool("() => String(/^(a+)+$/.test('a'.repeat(50) + 'b'))"), tool: 'broken', cause: 'did not come back within 3 s, and was interrupted', where: 'tools/broken', then: 'degraded', waits: 3_000 },
  {
    title: 'loops for ever inside of an async resource in a tool',
    code: `import { AsyncResource } from 'node:async_hooks';\n${tool("() => new AsyncResource('mine').runInAsyncScope(() => { for (;;); })")}`,
    tool: 'broken',
    cause: 'did not come back within 3 s, and was interrupted',
    where: 'tools/broken',
    then: 'degraded',
    waits: 3_000,
  },

  { title: 'throws later from a timer', code: plugin("setTimeout(() => { throw new Error('the timer is wrong'); }, 20);"), cause: 'the timer is wrong', where: 'timer', then: 'degraded' },
  { title: 'leaves a rejection floating', code: start("() => { void Promise.reject(new Error('nobody waits')); }"), cause: 'nobody waits', where: 'unhandled rejection', then: 'degraded' },
  { title: 'removes every listener of the process first', code: plugin("process.removeAllListeners();\nsetTimeout(() => { void Promise.reject(new Error('unheard of')); }, 20);"), cause: 'unheard of', where: 'unhandled rejection', then: 'degraded' },
  {
    title: 'throws in a listener of an emitter',
    code: `import { EventEmitter } from 'node:events';\nimport { stat } from 'node:fs';\n${start("() => { const bus = new EventEmitter(); bus.on('seen', () => { throw new Error('bad listener'); }); stat('/', () => bus.emit('seen')); }")}`,
    cause: 'bad listener',
    where: 'stray error',
    then: 'degraded',
  },
  { title: 'emits an error nobody listens to', code: `import { EventEmitter } from 'node:events';\n${start("() => { queueMicrotask(() => new EventEmitter().emit('error', new Error('unheard'))); }")}`, cause: 'unheard', where: 'stray error', then: 'degraded' },
];
