/**
 * Declares clusters and their collections, updates their descriptions, and drops them.
 *
 * Each change is one transaction. It writes the rows of the collections, and a RESET in the change log if their published objects
 * become invalid. Dropped objects are unpublished at once; their rows are removed in bounded transactions. After a failed transaction
 * Resources reads its memory from the rows again.
 */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { FollowedCluster } from '../types/followed-log.ts';
import type { ClusterStatus, ResourceHandle } from '../types/progress.ts';
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
    const { database } = this.#context.session;
    const stored = database.statement('SELECT uid FROM cluster WHERE name = ?').get(name);
    const known = stored?.[0] ?? null;
    if (stored !== undefined && (uid === null || uid === known)) return;
    this.#context.resources.change(() => {
      database
        .statement(
          `INSERT INTO cluster (name, uid) VALUES (?, ?)
           ON CONFLICT DO UPDATE SET uid = excluded.uid, version = CASE WHEN uid = excluded.uid THEN version END`,
        )
        .run(name, uid);
      if (known !== null && uid !== null) this.#removeAll(name);
    });
  }

  /** See Writer.registerClusters. */
  registerClusters(servers: ReadonlyMap<string, string>, started: ReadonlySet<string>): void {
    const { database } = this.#context.session;
    const stored = database.statement('SELECT name, server FROM cluster').all();
    const known = new Map(stored.map(([name, server]) => [String(name), server === null ? null : String(server)]));
    const adopted = [...known].filter(([name, server]) => started.has(name) && server !== null);
    // A cluster of an earlier start has no server. It stays until another one takes its name.
    const gone = [...known].filter(
      ([name, server]) => !started.has(name) && (server === null ? servers.has(name) : servers.get(name) !== server),
    );
    const added = [...servers].filter(([name, server]) => known.get(name) !== server);
    if (adopted.length + gone.length + added.length === 0) return;
    this.#context.resources.change(() => {
      for (const [name] of adopted) database.statement('UPDATE cluster SET server = NULL WHERE name = ?').run(name);
      for (const [name] of gone) {
        this.#removeAll(name);
        database.statement('DELETE FROM cluster WHERE name = ?').run(name);
      }
      for (const [name, server] of added) {
        database
          .statement(
            'INSERT INTO cluster (name, server) VALUES (?, ?) ON CONFLICT DO UPDATE SET server = excluded.server',
          )
          .run(name, server);
      }
    });
  }

  /** See Writer.resetClusterStatuses. */
  resetClusterStatuses(error: string): void {
    const { database } = this.#context.session;
    if (database.statement('SELECT 1 FROM cluster WHERE error IS NULL').get() === undefined) return;
    this.#context.session.run(() => database.statement('UPDATE cluster SET error = ? WHERE error IS NULL').run(error));
  }

  /** See Writer.setClusterStatus. */
  setClusterStatus(name: string, { version, error }: ClusterStatus): void {
    const { session } = this.#context;
    const { database } = session;
    const known = database.statement('SELECT version, error FROM cluster WHERE name = ?').get(name);
    const reached = version ?? known?.[0] ?? null;
    if (known !== undefined && known[0] === reached && known[1] === error) return;
    session.run(() => {
      database
        .statement(
          `INSERT INTO cluster (name, version, error) VALUES (?, ?, ?)
           ON CONFLICT DO UPDATE SET version = excluded.version, error = excluded.error`,
        )
        .run(name, reached, error);
    });
  }

  /** See Writer.declare. When a path is newly redacted, the stored bodies are unpublished and bodies in the log are removed. */
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

  /** Removes a collection; housekeeping removes its rows. */
  remove(handle: ResourceHandle): void {
    this.#context.resources.change(() => this.#remove(this.#context.resources.of(handle)));
  }

  /** Writes what another store knows of a cluster. */
  noteCluster({ name, uid, server, version, error }: Omit<FollowedCluster, 'type' | 'gone'>): void {
    const { session } = this.#context;
    session.run(() => {
      session.database
        .statement('INSERT OR REPLACE INTO cluster (name, uid, version, error, server) VALUES (?, ?, ?, ?, ?)')
        .run(name, uid, version, error, server);
    });
  }

  /** Removes a cluster with its collections. */
  removeCluster(name: string): void {
    this.#context.resources.change(() => {
      this.#removeAll(name);
      this.#context.session.database.statement('DELETE FROM cluster WHERE name = ?').run(name);
    });
  }

  /** See Writer.drop. */
  async drop(handle: ResourceHandle): Promise<void> {
    const { closed, resources } = this.#context;
    const resource = resources.of(handle);
    const { rowset } = resource;
    this.#context.resources.change(() => this.#remove(resource));
    if (rowset === null) return;
    while (!closed() && this.#housekeeping.purge(rowset)) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Inside a transaction. */
  #removeAll(cluster: string): void {
    for (const resource of this.#context.resources.all()) {
      if (resource.handle.cluster === cluster) this.#remove(resource);
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
    const { cluster, namespace: collection } = handle;
    const resourceVersion = lastResourceVersion ?? '';
    this.#context.log.reset(kind.id, { cluster, collection, reason: 'unpublished', resourceVersion });
  }
}
