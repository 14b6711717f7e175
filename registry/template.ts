/** The files of a new plugin, out of `plugin-template/`: one source, with the id and the kind the author wants. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const kinds = ['tool', 'command', 'hook'] as const;
export type Kind = (typeof kinds)[number];

export interface Wanted {
  readonly id: string;
  readonly kind: Kind;
  /** Plain JavaScript, typed in comments. */
  readonly js: boolean;
  /** Folder of the agent's own package, for its types and the test kit. */
  readonly host: string;
  readonly version: string;
}

/** The id that stands in the template. */
const hello = 'hello';

/** The files by name, as they would be written by hand. */
export function pluginFiles({ id, kind, js, host, version }: Wanted): Record<string, string> {
  const template = join(host, 'plugin-template');
  const read = (...path: string[]): string => readFileSync(join(template, ...path), 'utf8').replaceAll('\r\n', '\n');
  const typed = kind === 'tool' ? [] : ['kinds', kind];
  const code = js ? read('kinds', kind, 'index.js') : read(...typed, 'index.ts');
  const named = (text: string): string => withId(js ? text.replaceAll('index.ts', 'index.js') : text, id);
  const end = js ? 'js' : 'ts';
  return {
    'package.json': manifest(JSON.parse(read('package.json')) as Manifest, { id, kind, js, host, version }),
    [`index.${end}`]: named(code),
    [`index.test.${end}`]: named(read(...typed, 'index.test.ts')),
    ...(!js && { 'tsconfig.json': read('tsconfig.json') }),
    'README.md': named(read('README.md')),
    '.gitignore': 'node_modules/\n',
    // Else npm would build the agent itself each time the plugin is installed. Plugins have no use for such scripts.
    '.npmrc': 'ignore-scripts=true\n',
  };
}

/** `hello` is the id; before a colon it is a key, and with `_` it is part of a tool's name. */
function withId(text: string, id: string): string {
  return text
    .replace(/\bhello(?=: )/g, id.includes('-') ? `'${id}'` : id)
    .replaceAll(`${hello}_`, `${id.replaceAll('-', '_')}_`)
    .replace(/\bhello\b/g, id);
}

interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly files: readonly string[];
  readonly agent: { readonly id: string; readonly engine: string; readonly main: string; readonly capabilities: readonly string[] };
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const descriptions: Readonly<Record<Kind, string>> = {
  tool: 'A tool for agent: greets people',
  command: 'A command for agent: greets people',
  hook: 'A hook for agent: keeps keys from the model',
};

function manifest(stated: Manifest, { id, kind, js, host, version }: Wanted): string {
  const main = js ? 'index.js' : stated.agent.main;
  const { vitest = '', ...typed } = { ...stated.devDependencies, 'newt-agent': `file:${host.replaceAll('\\', '/')}` };
  const devDependencies = js ? { 'newt-agent': typed['newt-agent'], vitest } : { ...typed, vitest };
  const made = {
    ...stated,
    name: `agent-plugin-${id}`,
    description: descriptions[kind],
    files: stated.files.map((file) => (file === stated.agent.main ? main : file)),
    agent: { ...stated.agent, id, engine: `>=${version}`, main },
    scripts: { ...stated.scripts, ...(js && { check: 'node --check index.js' }) },
    devDependencies,
  };
  // Short lists stay on one line, as they would be written.
  return `${JSON.stringify(made, null, 2).replace(/\[\n\s+([^\]{}]*?)\n\s+\]/g, (_, items: string) => `[${items.split(/,\n\s+/).join(', ')}]`)}\n`;
}
