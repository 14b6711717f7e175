import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: {
      'newt-agent/testing': fileURLToPath(new URL('./plugins-builtin/testing.ts', import.meta.url)),
      'newt-agent': fileURLToPath(new URL('./plugins-builtin/public.ts', import.meta.url)),
    },
  },
  test: {
    globalSetup: ['test/setup.ts'],
    include: ['{kernel,plugins-builtin,plugin-template,registry,test}/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dist/**'],
    // Processes, not threads: the kernel patches process-wide functions, and a folder can only be entered by a process.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
  },
});
