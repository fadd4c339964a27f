/** Keeps the newest progress of ingest, and tells its listeners. The parent of the ingest thread and the serve processes use it. */
import type { CommittedChanges } from '../../store/types/change.ts';
import type { IngestProgress } from '../context/progress.ts';
import type { IngestMessage } from './ingest-messages.ts';

/** The messages that tell something new. */
type News = Extract<IngestMessage, { type: 'wake' | 'progress' | 'catalog' }>;

export class IngestNews {
  readonly #known = Promise.withResolvers<void>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #wake = new Set<(committed: CommittedChanges) => void>();
  readonly #progressed = new Set<(progress: IngestProgress) => void>();
  readonly #catalog = new Set<() => void>();
  #progress: IngestProgress;

  constructor(progress: IngestProgress) {
    this.#progress = progress;
    this.#note(progress);
  }

  /** See IngestHandle. */
  get catalogKnown(): Promise<void> {
    return this.#known.promise;
  }

  /** See IngestHandle. */
  get synced(): Promise<void> {
    return this.#ready.promise;
  }

  /** Calls the listener after commits; one call may cover several commits. Returns a function that removes the listener. */
  onWake(listener: (committed: CommittedChanges) => void): () => void {
    return added(this.#wake, listener);
  }

  onProgress(listener: (progress: IngestProgress) => void): () => void {
    return added(this.#progressed, listener);
  }

  /** Calls the listener after the declared resources have changed. */
  onCatalog(listener: () => void): () => void {
    return added(this.#catalog, listener);
  }

  progress(): IngestProgress {
    return this.#progress;
  }

  /** Tells the listeners. */
  take(message: News): void {
    if (message.type === 'wake') for (const listener of this.#wake) listener(message.committed);
    else if (message.type === 'catalog') for (const listener of this.#catalog) listener();
    else {
      this.#progress = message.progress;
      this.#note(message.progress);
      for (const listener of this.#progressed) listener(message.progress);
    }
  }

  #note({ catalogKnown, ready }: IngestProgress): void {
    if (catalogKnown) this.#known.resolve();
    if (ready) this.#ready.resolve();
  }
}

function added<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
