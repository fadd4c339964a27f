/**
 * The first sync of a resource: listed objects go straight into a rowset that does not count, in small transactions, and commit
 * publishes it. The log gets one RESET, no ADDED for each object.
 *
 *   begin: a rowset, noted in `stale_rowset` -> put, put, … -> commit: published | abort, crash: housekeeping removes its rows
 */
import { must } from '../base/must.ts';
import { fill, newRowset, publish, type ReplaceContext, readAll, replaceIsOver } from './replace-context.ts';
import type { ApplySummary, IncomingObject, Replace, ResourceHandle } from './types.ts';
import { WriteBudget } from './write-budget.ts';

export class FirstSync implements Replace {
  readonly #context: ReplaceContext;
  readonly #handle: ResourceHandle;
  readonly #rowset: number;
  readonly #shape: string;
  #count = 0;
  #over = false;

  constructor(context: ReplaceContext, handle: ResourceHandle) {
    this.#context = context;
    this.#handle = handle;
    const resource = context.resources.of(handle);
    this.#shape = resource.shape;
    this.#rowset = context.session.run(() => newRowset(context, resource));
    context.filling.add(this.#rowset);
  }

  get count(): number {
    return this.#count;
  }

  put(objects: readonly IncomingObject[]): void {
    if (this.#over || this.#context.closed()) throw replaceIsOver(this.#handle);
    const { session, resources, clock, bounds } = this.#context;
    const resource = resources.of(this.#handle);
    const received = readAll(objects, resource);
    // Nobody else of this thread can run before put returns, so only the size of a transaction is bounded here.
    const budget = new WriteBudget(clock, { maxMs: Number.POSITIVE_INFINITY, maxBytes: bounds.maxBytes });
    for (let next = 0; next < received.length; ) {
      budget.renew();
      const { added, end } = session.run(() => {
        resources.prepareRows(resource);
        const target = resources.target(resource, this.#rowset);
        let added = 0;
        let index = next;
        for (; index < received.length; ) {
          const object = must(received[index], 'a received object');
          if (fill(this.#context, target, object)) added += 1;
          index += 1;
          if (budget.spend(object.text.length)) break;
        }
        return { added, end: index };
      });
      this.#count += added;
      next = end;
      this.#context.relieve();
    }
  }

  async commit(resourceVersion: string): Promise<ApplySummary> {
    if (this.#over || this.#context.closed()) throw replaceIsOver(this.#handle);
    const { session, resources } = this.#context;
    const resource = resources.of(this.#handle);
    // Another replace of the same resource was quicker: its set is published, and this one is put aside.
    if (resource.synced) {
      this.abort();
      throw replaceIsOver(this.#handle);
    }
    const objects = this.#count;
    publish(this.#context, resource, { rowset: this.#rowset, resourceVersion, objects, shape: this.#shape });
    this.#end();
    return { added: objects, modified: 0, deleted: 0, ignored: 0, revision: session.counters.revision };
  }

  abort(): void {
    this.#end();
  }

  #end(): void {
    this.#over = true;
    this.#context.filling.delete(this.#rowset);
  }
}
