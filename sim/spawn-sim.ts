/** Starts a simulated cluster in a worker thread. */
import { once } from 'node:events';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { PortolanError } from '../src/base/errors.ts';
import type { LogLevel } from '../src/base/log.ts';
import type { SimOptions } from './sim-cluster.ts';

/** The options that can be cloned to another thread. */
export interface SpawnedSimOptions extends Omit<SimOptions, 'clock' | 'random' | 'log' | 'hooks'> {
  readonly logLevel?: LogLevel;
}

interface SpawnedSimCluster {
  readonly url: string;
  /** YAML. */
  readonly kubeconfig: string;
  /** Ends the cluster and its thread. Idempotent. */
  close(): Promise<void>;
}

/**
 * Bounds for the heap of a demo world in MB. With 2,000 Pods it lives on about 40 MB, and on the history. The bound leaves room for the
 * events that wait for slow watches (watch-stream.ts): the thread ends at the bound. A large world is filled much faster without one.
 */
function heapLimits(pods: number): ResourceLimits {
  return pods > 5000 ? {} : { maxOldGenerationSizeMb: Math.ceil(120 + pods * 0.05), maxYoungGenerationSizeMb: 12 };
}

type Message = { type: 'listening'; url: string; kubeconfig: string } | { type: 'failed'; message: string };

/**
 * Resolves when the cluster listens; rejects with UPSTREAM_UNAVAILABLE when it cannot start.
 * @param signal ends the start: the thread ends, and the call rejects with an AbortError.
 */
export async function spawnSimCluster(options: SpawnedSimOptions, signal?: AbortSignal): Promise<SpawnedSimCluster> {
  const worker = new Worker(new URL('./sim.worker.ts', import.meta.url), {
    workerData: options,
    ...(options.objects === 'demo' ? { resourceLimits: heapLimits(options.pods ?? 2000) } : {}),
  });
  const exited = once(worker, 'exit');
  const [message] = (await once(worker, 'message', { signal }).catch(async (error: unknown) => {
    await worker.terminate();
    throw error;
  })) as [Message];
  if (message.type === 'failed') {
    await exited;
    throw new PortolanError('UPSTREAM_UNAVAILABLE', `Free the port or choose another: ${message.message}`);
  }
  let closing: Promise<void> | undefined;
  return {
    url: message.url,
    kubeconfig: message.kubeconfig,
    close: () => {
      closing ??= (async () => {
        worker.postMessage('close');
        await exited;
      })();
      return closing;
    },
  };
}
