/**
 * The rowsets that a follower fills with the pages of its log.
 *
 *   begin: a rowset -> pages and changes up to their last name -> publish | drop: the rowset is stale
 *
 * Each has a row in `meta`, which is written in the transactions of pages. So a follower that starts again goes on where it was.
 */
import type { HealthStatus } from '../../catalog/health/health-status.ts';
import { compareText } from '../../catalog/values/values.ts';
import { newRowset, publishRows } from '../replace/rowset.ts';
import { RowsetCounts } from '../rows/object-counts.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import type { WriteContext } from '../rows/write-context.ts';
import { type CollectionName, collectionText, type RunningFill } from '../types/followed-log.ts';

/** A collection whose rows are filled. */
export interface Fill extends RunningFill {
  readonly rowset: number;
}

/** The key of the row of a fill. */
const keyOf = (name: CollectionName): string => `fill ${collectionText(name)}`;

export class FollowedFills {
  readonly #context: WriteContext;
  readonly #fills = new Map<string, Fill>();

  constructor(context: WriteContext) {
    this.#context = context;
    const rows = context.session.database.statement(`SELECT value FROM meta WHERE key GLOB 'fill *'`).all();
    for (const [fill] of rows) this.#keep(JSON.parse(String(fill)) as Fill);
  }

  running(): readonly RunningFill[] {
    return [...this.#fills.values()].map(({ rowset: _, ...fill }) => fill);
  }

  of(name: CollectionName): Fill | undefined {
    return this.#fills.get(keyOf(name));
  }

  /** True if the pages so far have the object with this name, or would have it. */
  covers({ upTo }: Fill, { namespace, name }: { readonly namespace: string; readonly name: string }): boolean {
    if (upTo === null) return false;
    const order = compareText(namespace, upTo.namespace);
    return order === 0 ? compareText(name, upTo.name) <= 0 : order < 0;
  }

  /** Begins with an empty rowset, in place of a running fill. Inside a transaction. */
  begin(name: CollectionName, resource: StoredResource): void {
    const { cluster, key, collection } = name;
    this.#change(name, { cluster, key, collection, upTo: null, rowset: newRowset(this.#context, resource) });
  }

  /** The pages reach another name. Inside a transaction. */
  reach(fill: Fill): void {
    this.#change(fill, fill);
  }

  /** Ends a running fill; its rows are stale. Inside a transaction. */
  drop(name: CollectionName): void {
    if (this.of(name) !== undefined) this.#change(name, undefined);
  }

  /** Publishes the rowset. Inside a transaction. Returns a function to call after the commit. */
  publish(fill: Fill, resource: StoredResource, resourceVersion: string): () => void {
    const counts = new RowsetCounts();
    let objects = 0;
    const rows = this.#context.session.database
      .statement('SELECT namespace, health, count(*) FROM object WHERE rowset = ? GROUP BY 1, 2')
      .all(fill.rowset);
    for (const [namespace, health, count] of rows) {
      counts.add({ namespace: String(namespace), health: health as HealthStatus }, Number(count));
      objects += Number(count);
    }
    const { rowset } = fill;
    const { shape } = resource;
    const after = publishRows(this.#context, resource, { rowset, resourceVersion, objects, counts, shape });
    this.#change(fill, undefined);
    return () => void Object.assign(resource, after);
  }

  #change(name: CollectionName, fill: Fill | undefined): void {
    const { session } = this.#context;
    const before = this.of(name);
    this.#set(name, fill);
    session.ifUndone(() => this.#set(name, before));
    const { database } = session;
    if (fill === undefined) database.statement('DELETE FROM meta WHERE key = ?').run(keyOf(name));
    else database.statement('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(keyOf(name), JSON.stringify(fill));
  }

  #set(name: CollectionName, fill: Fill | undefined): void {
    const before = this.of(name);
    if (before !== undefined) this.#context.filling.delete(before.rowset);
    if (fill === undefined) this.#fills.delete(keyOf(name));
    else this.#keep(fill);
  }

  #keep(fill: Fill): void {
    this.#fills.set(keyOf(fill), fill);
    this.#context.filling.add(fill.rowset);
  }
}
