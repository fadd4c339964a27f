import { defineConfig } from 'vitest/config';

export default defineConfig({
  // As Node resolves packages: otherwise vitest loads a second copy of graphql beside the one that Pothos and Yoga import.
  ssr: { resolve: { externalConditions: ['module-sync'], conditions: ['module-sync', 'node'] } },
  test: {
    include: ['src/**/*.test.ts', 'sim/**/*.test.ts', 'test/**/*.test.ts'],
    // Servers, worker threads and SQLite files: give each file a process of its own, as many as there are cores.
    pool: 'forks',
    maxWorkers: '100%',
    // As src/portolan.js has it, which tells why: threads of tests read TypeScript while others speak HTTP.
    execArgv: ['--no-wasm-code-gc'],
    globalSetup: ['test/kit/built-playground.ts'],
    setupFiles: ['test/kit/remove-directories.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ['default', './test/kit/count-reporter.ts'],
  },
});
