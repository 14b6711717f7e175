/** Installed plugins in number, of the design's mix: each a tool and a command, a quarter tap `tool.before`, a twentieth `prompt.build`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Writes `count` plugins beside the workspace and puts them into the lock file. */
export function installMany(place: Place, count: number): void {
  const plugins: Record<string, object> = {};
  for (let n = 0; n < count; n += 1) {
    const folder = join(place.root, 'installed', `many-${n}`);
    mkdirSync(folder, { recursive: true });
    const hooks = [...(n % 4 === 0 ? ["    'tool.before': (call) => call,"] : []), ...(n % 20 === 1 ? ["    'prompt.build': (prompt) => prompt,"] : [])];
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: `agent-plugin-many-${n}`, version: '1.0.0', type: 'module', agent: { id: `many-${n}`, engine: '>=0.1.0', main: 'index.ts', capabilities: [] } }));
    writeFileSync(join(folder, 'index.ts'), source(n, hooks));
    plugins[`many-${n}`] = { source: 'link', path: folder, version: '1.0.0', contentDigest: 'unchecked', capabilities: [], addedAt: '2026-01-01T00:00:00.000Z' };
  }
  mkdirSync(join(place.home, 'data'), { recursive: true });
  writeFileSync(join(place.home, 'data', 'agent-plugins.lock'), JSON.stringify({ version: 1, plugins }));
}
