/**
 * The first sync of a collection: listed objects are written directly into an unpublished rowset, and the commit publishes it. The log
 * gets one RESET instead of an ADDED for each object.
 *
 * A transaction may span several puts, because no reader needs these rows yet and a crash makes them useless anyway. It is bounded by
 * its bytes, and any other write commits it.
 *
 *   begin: a rowset, listed in `stale_rowset` -> put, put, … -> commit: published | abort, crash: housekeeping removes its rows
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { must } from '../../base/must.ts';
import { readIncoming } from '../objects/incoming.ts';
import { Preparer } from '../objects/prepare.ts';
import { DeferredEntries } from '../rows/deferred-entries.ts';
import { RowsetCounts } from '../rows/object-counts.ts';
import type { StorableObject } from '../rows/row-writer.ts';
import { recipeOf, type StoredResource } from '../rows/stored-resource.ts';
import type { WriteContext } from '../rows/write-context.ts';
import { rowsAtOnce } from '../sqlite/row-inserter.ts';
import type { IncomingObject } from '../types/incoming-object.ts';
import type { PreparedObject, Recipe } from '../types/prepared-object.ts';
import type { ResourceHandle } from '../types/progress.ts';
import type { ApplySummary, Replace } from '../types/writer.ts';
import { fillAll, newRowset, publish, removeFilled, replaceIsOver } from './rowset.ts';

/** Most objects that are written together. The first row has a statement of its own. */
const objectsAtOnce = rowsAtOnce + 1;
/** Bytes of objects that are written together. The last object may exceed them. */
const bytesAtOnce = 256 * 1024;
/** About the number of remaining deferred entries that are written in one turn of the event loop. */
const entriesAtOnce = 2048;
/** Estimated bytes that one deferred entry adds to a transaction: neighbouring entries share a page. */
const bytesOfEntry = 256;

export class FirstSync implements Replace {
  readonly #context: WriteContext;
  readonly #handle: ResourceHandle;
  readonly #rowset: number;
  readonly #shape: string;
  readonly #deferred = new DeferredEntries();
  readonly #counts = new RowsetCounts();
  #preparer: Preparer | null = null;
  #count = 0;
  #over = false;
  /** Called when a rollback has removed objects of this replace. It cannot be completed then. */
  readonly #lost = (): void => this.#end();

  constructor(context: WriteContext, handle: ResourceHandle) {
    this.#context = context;
    this.#handle = handle;
    const resource = context.resources.of(handle);
    this.#shape = resource.shape;
    this.#rowset = context.session.run(() => newRowset(context, resource));
    context.filling.add(this.#rowset);
  }

  get #filled() {
    return { deferred: this.#deferred, counts: this.#counts };
  }

  get count(): number {
    return this.#count;
  }

  put(objects: readonly IncomingObject[]): void {
    if (this.#over || this.#context.closed()) throw replaceIsOver(this.#handle);
    const resource = this.#context.resources.of(this.#handle);
    const { recipe } = this;
    if (this.#preparer === null || !isDeepStrictEqual(recipe, this.#preparer.recipe))
      this.#preparer = new Preparer(recipe, this.#context.session.database);
    this.#put(resource, this.#preparer.read(objects));
  }

  get recipe(): Recipe {
    return recipeOf(this.#context.resources.of(this.#handle));
  }

  putPrepared(objects: readonly (PreparedObject | IncomingObject)[], recipe: Recipe): void {
    if (this.#over || this.#context.closed() || !isDeepStrictEqual(recipe, this.recipe))
      throw replaceIsOver(this.#handle);
    const resource = this.#context.resources.of(this.#handle);
    this.#put(
      resource,
      objects.map((object) => ('body' in object ? object : readIncoming(object, resource))),
    );
  }

  #put(resource: StoredResource, received: readonly StorableObject[]): void {
    const { disk, session, resources, bounds } = this.#context;
    disk.admitBulk();
    if (resources.lacksTable(resource)) session.run(() => resources.prepareRows(resource));
    const target = resources.target(resource, this.#rowset);
    for (let from = 0; from < received.length; ) {
      const { some, bytes } = slice(received, from);
      from += some.length;
      const committed = session.fill(bounds.maxBytes, this.#lost, () => {
        this.#count += fillAll(this.#context, target, some, this.#filled);
        return bytes;
      });
      if (committed) this.#context.wal.relieve();
    }
  }

  room(): Promise<void> {
    return this.#context.wal.room();
  }

  remove(namespace: string, name: string): void {
    if (this.#over || this.#context.closed()) throw replaceIsOver(this.#handle);
    const { session, resources } = this.#context;
    const target = resources.target(resources.of(this.#handle), this.#rowset);
    if (session.run(() => removeFilled(this.#context, target, { namespace, name }, this.#filled))) this.#count -= 1;
  }

  async commit(resourceVersion: string): Promise<ApplySummary> {
    if (this.#over || this.#context.closed()) throw replaceIsOver(this.#handle);
    const { session, resources } = this.#context;
    await this.#writeRest();
    const resource = resources.of(this.#handle);
    // Another replace of the same collection has published its set meanwhile.
    if (resource.synced) {
      this.abort();
      throw replaceIsOver(this.#handle);
    }
    const objects = this.#count;
    publish(this.#context, resource, {
      rowset: this.#rowset,
      resourceVersion,
      objects,
      counts: this.#counts,
      shape: this.#shape,
    });
    this.#end();
    return { added: objects, modified: 0, deleted: 0, ignored: 0, revision: session.counters.revision };
  }

  /** Writes the remaining deferred entries, which must exist before the rows are published. */
  async #writeRest(): Promise<void> {
    const { session, resources, rows, bounds } = this.#context;
    let entries = this.#deferred.rest(entriesAtOnce);
    while (entries !== null) {
      const some = entries;
      const target = resources.target(resources.of(this.#handle), this.#rowset);
      session.fill(bounds.maxBytes, this.#lost, () => {
        rows.insertEntries(target, some);
        return (some.uids.length / 2 + some.labels.length / 3) * bytesOfEntry;
      });
      entries = this.#deferred.rest(entriesAtOnce);
      if (entries === null) return;
      await nextTurn();
      await this.room();
      if (this.#over || this.#context.closed()) throw replaceIsOver(this.#handle);
    }
  }

  abort(): void {
    this.#end();
  }

  #end(): void {
    this.#over = true;
    this.#context.filling.delete(this.#rowset);
  }
}

/** The next objects to write together, from the index `from` on. */
function slice(
  received: readonly StorableObject[],
  from: number,
): { readonly some: readonly StorableObject[]; readonly bytes: number } {
  const some: StorableObject[] = [];
  let bytes = 0;
  for (let at = from; at < received.length && some.length < objectsAtOnce && bytes < bytesAtOnce; at += 1) {
    const object = must(received[at], 'a received object');
    some.push(object);
    bytes += ('body' in object ? object.body : object.text).length;
  }
  return { some, bytes };
}
