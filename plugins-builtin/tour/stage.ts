/** The tour's stage: a temporary home and workspace, and the plugins that appear on it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Stage {
  /** Removed when the tour ends. */
  readonly root: string;
  readonly workspace: string;
  /** The plugin that `agent plugin add` links. */
  readonly linked: string;
  /** Environment for the commands of the tour. */
  readonly env: NodeJS.ProcessEnv;
  addBroken(): void;
  removeBroken(): void;
}

const plugin = (body: string): string => `import { definePlugin, tool, z } from 'newt-agent';\n\n${body}`;

const workspaceFiles = {
  'README.md': '# Numbers\n\nA small workspace for the tour.\n',
  'notes.txt': 'Fibonacci numbers: each is the sum of the two before it.\n',
  '.agent/plugins/house-rules.ts': plugin(`// Project tier: lives in the repository, runs once the person trusts it.
export default definePlugin({ id: 'house-rules', version: '1.0.0' }, () => ({
  hooks: { 'prompt.build': (prompt) => ({ ...prompt, sections: [...prompt.sections, { id: 'house-rules', text: 'Write docstrings.' }] }) },
}));
`),
};

const globalPlugins = {
  'greeter.ts': plugin(`// Global tier: lives in the person's own configuration folder.
export default definePlugin({ id: 'greeter', version: '1.0.0' }, () => ({
  tools: {
    greet: tool({
      description: 'Greet somebody by name.',
      input: z.object({ name: z.string() }),
      effect: 'read',
      run: ({ name }) => \`Hello, \${name}!\`,
    }),
  },
}));
`),
};

const linkedPlugin = {
  'package.json': `${JSON.stringify({ name: 'agent-plugin-word-count', version: '1.2.0', type: 'module', agent: { id: 'word-count', engine: '>=0.1.0', main: 'index.ts' } }, null, 2)}\n`,
  'index.ts': plugin(`// npm tier: added by \`agent plugin add\`.
export default definePlugin({ id: 'word-count' }, () => ({
  tools: {
    count_words: tool({
      description: 'Count the words of a text.',
      input: z.object({ text: z.string() }),
      effect: 'read',
      run: ({ text }) => String(text.split(/\\s+/).filter(Boolean).length),
    }),
  },
}));
`),
};

const brokenPlugins = {
  'throws-at-load.ts': "throw new Error('no settings file');\n",
  'syntax-error.ts': 'export default {\n  id: = 3,\n};\n',
  'missing-package.ts': "import colors from 'a-package-nobody-installed';\n\nexport default colors;\n",
  'exits-at-load.ts': 'process.exit(1);\n',
  'never-loads.ts': 'await new Promise(() => {});\n',
  'broken-hook.ts': plugin(`export default definePlugin({ id: 'broken-hook' }, () => ({
  hooks: {
    'turn.start': () => {
      throw new TypeError('this hook always throws');
    },
  },
}));
`),
  'broken-tools.ts': plugin(`export default definePlugin({ id: 'broken-tools' }, () => ({
  tools: {
    reads_undefined: tool({
      description: 'Reads a property of undefined.',
      input: z.object({}),
      effect: 'read',
      run: (input) => (input as any).settings.colour,
    }),
    never_answers: tool({
      description: 'Never answers.',
      input: z.object({}),
      effect: 'read',
      deadline: 1,
      run: () => new Promise(() => {}),
    }),
  },
}));
`),
};

export function setStage(): Stage {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'agent-tour-')));
  const home = join(root, 'home');
  const workspace = join(root, 'numbers');
  const linked = join(root, 'word-count');
  write(workspace, workspaceFiles);
  write(join(home, 'config', 'plugins'), globalPlugins);
  write(linked, linkedPlugin);
  const env: NodeJS.ProcessEnv = { ...process.env, AGENT_HOME: home };
  for (const name of Object.keys(env)) if (name.startsWith('AGENT_') && name !== 'AGENT_HOME') delete env[name];
  const plugins = join(home, 'config', 'plugins');
  return {
    root,
    workspace,
    linked,
    env,
    addBroken: () => write(plugins, brokenPlugins),
    removeBroken: () => {
      for (const name of Object.keys(brokenPlugins)) rmSync(join(plugins, name));
    },
  };
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
