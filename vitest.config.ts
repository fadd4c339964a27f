import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Threads and processes that tests start would parse and compile the same TypeScript again, thousands of times in a run. The folder is
// that of src/portolan.js.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/portolan', import.meta.url));

export default defineConfig({
  // As Node resolves packages: otherwise vitest loads a second copy of graphql beside the one that Pothos and Yoga import.
  ssr: { resolve: { externalConditions: ['module-sync'], conditions: ['module-sync', 'node'] } },
  test: {
    // Servers, worker threads and SQLite files: give each file a process of its own.
    pool: 'forks',
    // A file leaves the processor idle for a third of its time, and a suite on a real API server for half of it.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    include: ['src/**/*.test.ts', 'sim/**/*.test.ts', 'test/**/*.test.ts'],
    // As src/portolan.js has it, which tells why: threads of tests read TypeScript while others speak HTTP.
    execArgv: ['--no-wasm-code-gc'],
    globalSetup: ['test/kit/built-playground.ts'],
    setupFiles: ['test/kit/remove-directories.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ['default', './test/kit/count-reporter.ts'],
  },
});
