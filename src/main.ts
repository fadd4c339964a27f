#!/usr/bin/env node
/**
 * The command line. Checks the Node version before anything is imported that would crash on an older one.
 */
const major = Number(process.versions.node.split('.')[0]);
// The reader of a pipe has seen enough, as in `portolan schema | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
if (major >= 24) {
  const { run } = await import('./cli/program.ts');
  process.exitCode = await run(process.argv.slice(2));
} else {
  process.stderr.write(
    `portolan: this is Node ${process.versions.node} and Portolan needs 24 or later; start it with npm (npm run demo), which brings its own.\n`,
  );
  process.exitCode = 1;
}

export {};
