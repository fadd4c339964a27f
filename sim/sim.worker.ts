/**
 * The simulated cluster in a worker thread, so that its work does not delay the main thread.
 *
 * Protocol: workerData holds the options -> the worker posts `{ type: 'listening', url, kubeconfig }` or `{ type: 'failed',
 * message }` once -> the parent posts 'close' -> the cluster closes and the thread ends by itself.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createLogger } from '../src/base/create-logger.ts';
import { messageOf } from '../src/base/errors.ts';
import { must } from '../src/base/must.ts';
import { startSimCluster } from './sim-cluster.ts';
import type { SpawnedSimOptions } from './spawn-sim.ts';

const port = must(parentPort, 'a parent thread');
const { logLevel, ...options } = workerData as SpawnedSimOptions;

try {
  const cluster = await startSimCluster({ ...options, log: createLogger(logLevel ?? 'silent') });
  port.once('message', () => {
    void cluster.close().then(() => port.close());
  });
  port.postMessage({ type: 'listening', url: cluster.url, kubeconfig: cluster.kubeconfig() });
} catch (error) {
  port.postMessage({ type: 'failed', message: messageOf(error) });
  port.close();
}
