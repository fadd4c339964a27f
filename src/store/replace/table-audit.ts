/**
 * Compares a collection's rows with a list of the server at the rows' resourceVersion. Reads only.
 *
 *   begin: the current version and revision -> the list at exactly that version, page by page -> finish: rows that were not listed
 *
 * Events are applied meanwhile. A row or a deletion with a later sequence number than `since` is newer than the list, and is ignored.
 * Keeps the id of each listed object in memory.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { must } from '../../base/must.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { ListedObject } from '../types/incoming-object.ts';
import type { ResourceHandle } from '../types/progress.ts';
import type { Audit, AuditResult } from '../types/writer.ts';

const rowsAtOnce = 2000;

export class TableAudit implements Audit {
  readonly resourceVersion: string;
  readonly #context: WriteContext;
  readonly #handle: ResourceHandle;
  readonly #rowset: number;
  readonly #since: number;
  /** Object ids of rows that were listed. */
  readonly #listed = new Set<number>();
  #compared = 0;
  #missing = 0;
  #different = 0;

  /** `resource` must be synced. */
  constructor(context: WriteContext, resource: StoredResource) {
    this.#context = context;
    this.#handle = resource.handle;
    this.#rowset = must(resource.rowset, 'the rowset of a synced resource');
    this.resourceVersion = resource.lastResourceVersion ?? '';
    this.#since = context.session.counters.revision;
  }

  check(objects: readonly ListedObject[]): void {
    const resource = this.#resource();
    if (resource === null) return;
    const { log, rows } = this.#context;
    for (const { namespace, name, uid, resourceVersion } of objects) {
      this.#compared += 1;
      const stored = rows.find(this.#rowset, namespace, name);
      if (stored === null) {
        const deleted = log.wasDeleted(resource.kind.id, this.#handle.cluster, uid);
        if (deleted === null || deleted.seq <= this.#since) this.#missing += 1;
        continue;
      }
      this.#listed.add(stored.id);
      if (stored.seq > this.#since) continue;
      if (stored.uid !== uid || stored.resourceVersion !== resourceVersion) this.#different += 1;
    }
  }

  async finish(): Promise<AuditResult | null> {
    let surplus = 0;
    let last: readonly [string, string] = ['', ''];
    for (;;) {
      if (this.#resource() === null) return null;
      const rows = this.#context.session.database
        .statement(
          `SELECT id, namespace, name, seq FROM object WHERE rowset = ? AND (namespace, name) > (?, ?)
           ORDER BY namespace, name LIMIT +?`,
        )
        .all(this.#rowset, ...last, rowsAtOnce);
      for (const [id, namespace, name, seq] of rows) {
        last = [String(namespace), String(name)];
        if (Number(seq) <= this.#since && !this.#listed.has(Number(id))) surplus += 1;
      }
      if (rows.length < rowsAtOnce) break;
      await nextTurn();
    }
    return { compared: this.#compared, missing: this.#missing, different: this.#different, surplus };
  }

  /** The collection; null once its rows were replaced or dropped, because they cannot be compared then. */
  #resource(): StoredResource | null {
    const { closed, resources } = this.#context;
    if (closed()) return null;
    const resource = resources.all().find(({ handle }) => handle.id === this.#handle.id);
    return resource?.rowset === this.#rowset ? resource : null;
  }
}
