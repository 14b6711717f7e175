/** Installed plugins in number, of the design's mix: each a tool and a command, a quarter tap `tool.before`, a twentieth `prompt.build`. */
import { createHash, hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestFolder } from '../../kernel/trust/digest.ts';
import { treeName } from '../../registry/install/tree.ts';
import type { Place } from './agent-process.ts';

const source = (n: number, hooks: readonly string[]): string => `import { command, definePlugin, tool, z } from 'newt-agent';

interface Note { readonly text: string; readonly at: number }

const notes: Note[] = [];

export default definePlugin({ id: 'many-${n}' }, () => ({
  tools: {
    many_${n}: tool({
      description: 'Keeps note number ${n} of what was said, and answers how many there are.',
      input: z.object({ text: z.string().min(1).describe('What to keep'), tags: z.array(z.string()).default([]) }),
      effect: 'read',
      run: ({ text }: { text: string }): string => {
        notes.push({ text, at: notes.length });
        return String(notes.length);
      },
    }),
  },
  commands: {
    'many-${n}': command({
      description: 'Prints the notes of plugin ${n}',
      examples: ['agent many-${n}'],
      run: async (_invocation, { io }) => {
        for (const { text } of notes) io.print(text);
        return 0;
      },
    }),
  },
  hooks: {
${hooks.join('\n')}
  },
}));
`;

/** Puts `count` plugins into trees of their own and into the lock file, as `agent plugin add` does. */
export function installMany(place: Place, count: number): void {
  const data = join(place.home, 'data');
  const plugins: Record<string, object> = {};
  for (let n = 0; n < count; n += 1) {
    const id = `many-${n}`;
    const name = `agent-plugin-${id}`;
    const integrity = `sha512-${createHash('sha512').update(id).digest('base64')}`;
    const stated = { source: 'npm', asked: `${name}@^1.0.0`, name, version: '1.0.0', integrity, packages: { [`node_modules/${name}`]: { version: '1.0.0', integrity } } };
    const tree = join(data, 'plugins', id, treeName(stated));
    const folder = join(tree, 'node_modules', name);
    mkdirSync(folder, { recursive: true });
    const hooks = [...(n % 4 === 0 ? ["    'tool.before': (call) => call,"] : []), ...(n % 20 === 1 ? ["    'prompt.build': (prompt) => prompt,"] : [])];
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', type: 'module', agent: { id, engine: '>=0.1.0', main: 'index.ts', capabilities: [] } }));
    writeFileSync(join(folder, 'index.ts'), source(n, hooks));
    plugins[id] = { ...stated, contentDigest: digestFolder(tree), capabilities: [], capabilityDigest: hash('sha256', '[]'), addedAt: '2026-01-01T00:00:00.000Z' };
  }
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, 'agent-plugins.lock'), JSON.stringify({ version: 2, plugins }));
}
