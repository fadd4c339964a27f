/** The command line. src/portolan.js imports it after checking the version of Node. */
import { run } from './cli/program.ts';

// EPIPE: the reader of the pipe has ended, as in `portolan schema | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.exitCode = await run(process.argv.slice(2));
