/** How many processes answer requests. */
import { availableParallelism, totalmem } from 'node:os';
import type { Config } from '../../config/options.ts';
import { mostProcesses } from '../../config/table/option-values.ts';

const mebibyte = 2 ** 20;
/** Of the memory that the gateway may have: what it needs with one process, and for each further one. */
const firstBytes = 1024 * mebibyte;
const furtherBytes = 300 * mebibyte;

/**
 * `auto`: one less than there are processors, because ingest needs one; fewer where the memory does not suffice. A container often has the
 * processors of its whole node and little memory.
 */
export function processCount(
  processes: Config['processes'],
  processors = availableParallelism(),
  memoryBytes = memory(),
): number {
  if (processes !== 'auto') return processes;
  const further = Math.floor((memoryBytes - firstBytes) / furtherBytes);
  return Math.min(mostProcesses, Math.max(1, Math.min(processors - 1, 1 + further)));
}

/** That of the machine, or the limit of the container if it is less. */
function memory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
