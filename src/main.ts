/** The command line, once src/portolan.js has seen that this Node can run it. */
import { run } from './cli/program.ts';

// The reader of a pipe has seen enough, as in `portolan schema | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.exitCode = await run(process.argv.slice(2));
