/**
 * A thread that sleeps a millisecond and works a quarter of one, over and over: how late it is tells how busy the machine is.
 */
import { parentPort, workerData } from 'node:worker_threads';

const { forMs } = workerData as { readonly forMs: number };
const sleeping = new Int32Array(new SharedArrayBuffer(4));
const late: number[] = [];
const end = performance.now() + forMs;
while (performance.now() < end) {
  const before = performance.now();
  Atomics.wait(sleeping, 0, 0, 1);
  const woken = performance.now();
  while (performance.now() - woken < 0.25);
  late.push(performance.now() - before - 1.25);
}
late.sort((a, b) => a - b);
parentPort?.postMessage(late[Math.floor(late.length * 0.99)] ?? 0);
