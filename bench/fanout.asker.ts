/**
 * Asks the trivial query again and again, in a thread of its own. The thread of the clients is busy, and would measure its own delays.
 *
 *   workerData: the URL -> message 'end' -> message: Asked
 */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../src/base/must.ts';
import { type Asked, trivialQuery } from './fanout.world.ts';

const port = must(parentPort, 'the port of a worker thread');
const url = workerData as string;
const body = JSON.stringify({ query: trivialQuery });
const times: number[] = [];
let isOver = false;
port.once('message', () => {
  isOver = true;
});
while (!isOver) {
  const began = performance.now();
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const text = await answer.text();
  if (!text.includes('"nodes"')) throw new Error(text);
  times.push(performance.now() - began);
  await new Promise((resolve) => setTimeout(resolve, 5));
}
times.sort((a, b) => a - b);
port.postMessage({ queries: times.length, p99: times[Math.floor(times.length * 0.99)] ?? 0 } satisfies Asked);
