/**
 * The programs that tests start as processes: of the sources, or of the bundle in the folder that PORTOLAN_BUNDLE names, whose processes
 * start in half of the time.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = resolve(root, process.env['PORTOLAN_BUNDLE'] ?? '.');

/** Always of the sources, whose modules have their own files. */
export const sourceProgram = resolve(root, 'src/portolan.js');

export const programs = {
  portolan: resolve(folder, 'src/portolan.js'),
  'kubectl-portolan': resolve(folder, 'src/kubectl-portolan.js'),
} as const;
