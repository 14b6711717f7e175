// Builds dist/: one bundle for the command and the package's export, split where code is loaded lazily.
// jiti stays outside: it loads files of its own. So does what installs packages: it is large, and no start loads it. Says nothing unless something is wrong.
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import MagicString from 'magic-string';
import { build } from 'rolldown';

/** zod's 50 translations would be half of what every start reads: each is fetched from the package when it is asked for. */
const lazyLocales = {
  name: 'lazy-locales',
  load: {
    filter: { id: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ },
    handler(id) {
      const named = [...readFileSync(id, 'utf8').matchAll(/export \{ default as (\w+) \} from "\.\/([\w-]+)\.js"/g)];
      const lines = named.map(([, name, file]) => `export const ${name} = () => interop(require("zod/v4/locales/${file}.cjs"))();`);
      // English is what zod itself starts with.
      return ['import { createRequire } from "node:module";', 'import english from "./en.js";', 'const require = createRequire(import.meta.url);', 'const interop = (module) => module.default ?? module;', ...lines.filter((line) => !line.includes('/en.cjs')), 'export { english as en };'].join('\n');
    },
  },
};

/**
 * Node's own modules without their ESM faces: a face reads every export of its module, and so loads streams, promises
 * and the like that nobody asked for. What is taken here also stays what it was, whatever a plugin writes over it.
 */
const plainBuiltins = {
  name: 'plain-builtins',
  renderChunk(code) {
    const chunk = new MagicString(code);
    chunk.replaceAll(/^import (?:([\w$]+),? )?(?:\{([^}]*)\} )?from "(node:[\w/]+)";$/gm, (_, whole, names, module) => {
      const taken = [whole, names && `{${names.replaceAll(' as ', ': ')}}`].filter(Boolean);
      return `const ${taken.map((pattern) => `${pattern} = globalThis.process.getBuiltinModule("${module}")`).join(', ')};`;
    });
    return { code: chunk.toString(), map: chunk.generateMap({ hires: 'boundary' }) };
  },
};

const { output } = await build({
  cwd: import.meta.dirname,
  input: { main: 'plugins-builtin/command.ts', public: 'plugins-builtin/public.ts', testing: 'plugins-builtin/testing.ts', examine: 'plugins-builtin/examine.ts' },
  platform: 'node',
  external: ['jiti', 'pacote', '@npmcli/arborist', 'cacache', 'tar', /^node:/],
  plugins: [lazyLocales, plainBuiltins],
  resolve: { alias: { 'newt-agent': join(import.meta.dirname, 'plugins-builtin', 'public.ts') } },
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: true,
    // What every start needs lies in one file: each further module costs the loader half a millisecond.
    codeSplitting: {
      groups: [
        { name: 'core', test: /node_modules.(zod|tapable|semver)|.kernel.(?!config.(file|edit|inspect|unset))|agent.api|manifest\.ts|models.(endpoints|model-list)|public\.ts|registry.(lock|installed|install.tree)|plugins-builtin.(builtins|start|agent.latest-log)/ },
        // The other wires share most of it, and pay for the rest; a run over this one loads a single file.
        { name: 'openai-chat', test: /@ai-sdk.(openai-compatible|provider)|plugins-builtin.models.(openai-chat|chat-frames|tool-call-frames|mended-stream|sse-|guarded-model|provider-error)/ },
        // What `agent run` and `agent chat` share; the rest of a chat is loaded by a chat.
        { name: 'terminal', test: /plugins-builtin.cli.(?!(?:channel|program|manifest|config-explain|config-schema)\.|completion.(?!command\.)|chat.(?!command\.))/ },
      ],
    },
    // White space is a quarter of the bytes that are read and hashed at every start. Names stay, for stacks.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  },
});

// What an agent that is running now was started with may still be read: older files go a little later.
const kept = new Set(output.map(({ fileName }) => join('dist', fileName)));
const patience = 10 * 60_000;
for (const file of readdirSync(join(import.meta.dirname, 'dist', 'chunks')).map((name) => join('dist', 'chunks', name))) {
  const path = join(import.meta.dirname, file);
  if (!kept.has(file) && !kept.has(file.replace(/\.map$/, '')) && Date.now() - statSync(path).mtimeMs > patience) rmSync(path);
}
