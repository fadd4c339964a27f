/**
 * Ingest as a serve process sees it: the messages of the ingest process, as the thread of a single process would send them.
 *
 * It also keeps the seal of this process. Readers compare the files with a copy of the ingest process's seal, so they notice the writes of
 * another program. When the ingest process says that the store is lost, nothing is read any more here, until it says that there is a new
 * one.
 *
 *   progress: no store               -> the seal is lost
 *   progress: a store, made anew     -> the seal is opened on it
 *
 * Progress is joined while this process is busy, so it may miss that there was no store. The count of rebuilds tells it. The inode of the
 * file would not: the system may give that of the old file to the new one.
 */
import type { IngestProgress } from '../../ingest/context/progress.ts';
import { IngestNews } from '../../ingest/thread/ingest-news.ts';
import { FileSeal, type SealMemory, sealMemory } from '../../store/file/file-seal.ts';
import type { PathUse } from '../../store/types/kind-layout.ts';
import type { FileDamage } from '../../store/types/store-fault.ts';
import type { FromProcess } from './process-messages.ts';

export class RemoteIngest extends IngestNews {
  /** Never: the process ends together with the ingest process. */
  readonly failed = new Promise<never>(() => {});
  readonly #seal: FileSeal;
  readonly #send: (message: FromProcess) => void;
  /** Of the store that the seal was opened on; null while there is no store. */
  #rebuilds: number | null = null;

  /** @param file the database file, which is open in the ingest process @param copy the file with a copy of that process's seal */
  constructor(file: string, copy: string, progress: IngestProgress, send: (message: FromProcess) => void) {
    super(progress);
    this.#seal = new FileSeal(file, sealMemory({ reads: copy }));
    this.#seal.open();
    this.#send = send;
    this.#noteStore(progress);
  }

  /** For the readers of this process. */
  get seal(): SealMemory {
    return this.#seal.memory;
  }

  promote(use: PathUse): void {
    this.#send({ type: 'promote', use });
  }

  reportDamage(damage: FileDamage): void {
    this.#send({ type: 'damaged', ...damage });
  }

  /** The seal is right before a listener learns of the progress. */
  override take(message: Parameters<IngestNews['take']>[0]): void {
    if (message.type === 'progress') this.#noteStore(message.progress);
    super.take(message);
  }

  #noteStore({ hasStore, rebuilds }: IngestProgress): void {
    if (!hasStore) this.#seal.lose();
    else if (rebuilds !== this.#rebuilds) this.#seal.open();
    this.#rebuilds = hasStore ? rebuilds : null;
  }
}
