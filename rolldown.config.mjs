// One bundle for the command and the package's export, split where code is loaded lazily. jiti stays
// outside: it loads files of its own.
import { defineConfig } from 'rolldown';

export default defineConfig({
  input: { main: 'plugins-builtin/command.ts', public: 'plugins-builtin/public.ts' },
  platform: 'node',
  external: ['jiti', /^node:/],
  resolve: { alias: { 'newt-agent': new URL('./plugins-builtin/public.ts', import.meta.url).pathname } },
  output: { dir: 'dist', format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js', cleanDir: true, sourcemap: false, minify: { compress: false, mangle: false, codegen: { removeWhitespace: false } } },
});
