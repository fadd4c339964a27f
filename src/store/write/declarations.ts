/**
 * Clusters and their collections: declared, declared again with another description, and dropped.
 *
 * Each change is one transaction: the rows of the collections, and a RESET in the change log where what was known of them is void.
 * Dropped objects do not count from then on; their rows are removed in bounded transactions. When a transaction fails, the memory
 * of resources is read anew from the rows.
 */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { ResourceHandle } from '../types/progress.ts';
import type { Housekeeping } from './housekeeping.ts';
import type { PendingProgress } from './pending-progress.ts';

export class Declarations {
  readonly #context: WriteContext;
  readonly #progress: PendingProgress;
  readonly #housekeeping: Housekeeping;

  constructor(context: WriteContext, progress: PendingProgress, housekeeping: Housekeeping) {
    this.#context = context;
    this.#progress = progress;
    this.#housekeeping = housekeeping;
  }

  /** See Writer.openCluster. */
  openCluster(name: string, uid: string | null): void {
    const { resources, session } = this.#context;
    const { database } = session;
    const stored = database.statement('SELECT uid FROM cluster WHERE name = ?').get(name);
    const known = stored?.[0] ?? null;
    if (stored !== undefined && (uid === null || uid === known)) return;
    this.#change(() => {
      database.statement('INSERT OR REPLACE INTO cluster (name, uid) VALUES (?, ?)').run(name, uid);
      if (known === null || uid === null) return;
      for (const resource of resources.all()) {
        if (resource.handle.cluster === name) this.#remove(resource);
      }
    });
  }

  /** See Writer.declare. Paths that are redacted from now on are removed from what is stored: bodies and old versions. */
  declare(described: DescribedResource, namespace: string): ResourceHandle {
    const { log, resources } = this.#context;
    const resource = resources.declare(described, namespace, (changed) => {
      if (changed.synced) this.#logReset(changed);
      log.forgetBodies(changed.kind.id, changed.handle.cluster);
      this.#progress.forget(changed);
      resources.unpublish(changed);
    });
    return resource.handle;
  }

  /** See Writer.drop. */
  async drop(handle: ResourceHandle): Promise<void> {
    const { closed, resources } = this.#context;
    const resource = resources.of(handle);
    const { rowset } = resource;
    this.#change(() => this.#remove(resource));
    if (rowset === null) return;
    while (!closed() && this.#housekeeping.purge(rowset)) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  #change(work: () => void): void {
    const { resources, session } = this.#context;
    try {
      session.run(work);
    } catch (error) {
      resources.reload();
      throw error;
    }
  }

  /** Inside a transaction. */
  #remove(resource: StoredResource): void {
    const { resources } = this.#context;
    if (resource.synced) this.#logReset(resource);
    this.#progress.forget(resource);
    resources.unpublish(resource);
    resources.remove(resource);
  }

  #logReset({ kind, handle, lastResourceVersion }: StoredResource): void {
    this.#context.log.reset(kind.id, handle.cluster, lastResourceVersion ?? '');
  }
}
