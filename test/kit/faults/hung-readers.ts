/**
 * Loaded before a gateway by NODE_OPTIONS=--import. While the file that PORTOLAN_HUNG_READERS names is there, its reader threads do not
 * answer, as when a read of the disk does not end.
 */
import { existsSync } from 'node:fs';
import { threadName } from 'node:worker_threads';

const file = process.env['PORTOLAN_HUNG_READERS'] ?? '';
if (threadName === 'reader' && file !== '') {
  const never = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => {
    while (existsSync(file)) Atomics.wait(never, 0, 0, 20);
  }, 20).unref();
}
