/**
 * Starts and stops the checkpoint thread of a store. Checkpoints run off the writer's thread, so that no commit waits for one.
 *
 *   start -> the thread checks the log's size every few milliseconds -> stop: sets a flag -> the thread closes its connection
 *         -> `stopped` is set; `stop` waits for it, at most `stopMs`
 */
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { SealMemory } from './file-seal.ts';

/** Indexes into the memory shared with the thread (32-bit integers). */
export const checkpointFlags = { stop: 0, started: 1, stopped: 2, firstFillOver: 3, length: 4 } as const;

export interface CheckpointerData {
  readonly file: string;
  readonly flags: Int32Array<SharedArrayBuffer>;
  /** Bytes in the log from which a passive checkpoint runs. */
  readonly passiveBytes: number;
  /** Above this size the thread writes the whole log back, so that it restarts. The readers' WalGate uses the same size. */
  readonly gateBytes: number;
  /** The file is written without syncs until the flag says that its first fill is over. */
  readonly unsyncedFill: boolean;
  readonly seal: SealMemory;
}

/**
 * `failing`: why checkpoints began to fail, null when one succeeded again. `unsynced`: why the sync after a first fill failed. `lost`: why
 * the files must not be used any more.
 */
export type CheckpointerMessage =
  | { readonly failing: string | null }
  | { readonly unsynced: string }
  | { readonly lost: string };

export interface Checkpointer {
  /** Blocks until the thread has closed its connection; at most a second. */
  stop(): void;
  /** Syncs the file and its log in the thread. The thread writes with syncs from then on. */
  endUnsyncedFill(): void;
}

const stopMs = 1000;

export function startCheckpointer(
  options: Omit<CheckpointerData, 'flags'> & {
    readonly log: Logger;
    readonly onDeath: () => void;
    /** Called when the thread finds that the files are not those of the store any more. */
    readonly onLost: (reason: string) => void;
  },
): Checkpointer {
  const { log, onDeath, onLost, ...data } = options;
  const flags = new Int32Array(new SharedArrayBuffer(checkpointFlags.length * 4));
  const worker = new Worker(new URL('./checkpointer.worker.ts', import.meta.url), {
    workerData: { ...data, flags } satisfies CheckpointerData,
  });
  worker.unref();
  worker.on('message', (message: CheckpointerMessage) => {
    if ('lost' in message) return onLost(message.lost);
    if ('unsynced' in message) {
      const fields = { file: data.file, error: message.unsynced };
      log.error(
        fields,
        'the store could not be synced after its first fill; it is rebuilt when the machine has gone down',
      );
      return;
    }
    const { failing } = message;
    if (failing === null) log.info({ file: data.file }, 'the write-ahead log is written back again');
    else log.error({ file: data.file, error: failing }, 'the write-ahead log cannot be written back; trying again');
  });
  worker.on('error', (error) => {
    log.error({ error: messageOf(error) }, 'the checkpoint thread died; the writer checkpoints by itself');
    onDeath();
  });
  return {
    endUnsyncedFill: () => {
      Atomics.store(flags, checkpointFlags.firstFillOver, 1);
    },
    stop: () => {
      Atomics.store(flags, checkpointFlags.stop, 1);
      Atomics.notify(flags, checkpointFlags.stop);
      // A thread that has not started yet sees the flag before it opens anything.
      if (Atomics.load(flags, checkpointFlags.started) === 1) Atomics.wait(flags, checkpointFlags.stopped, 0, stopMs);
    },
  };
}
