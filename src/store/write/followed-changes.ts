/**
 * Applies the change log of another store to this one.
 *
 *   changes -> one or more transactions of: entries with the log's own sequence numbers, rows with its object ids, version and count of
 *   each collection, removal of old entries -> the revision
 *
 * The rules of reflectors do not apply: the log is the truth, and it has each change once. So a change that does not fit is a missing or a
 * foreign entry. Its transaction is undone. The changes before that transaction stay.
 */
import { isDeepStrictEqual } from 'node:util';
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { laterResourceVersion } from '../../catalog/resources/resource-version.ts';
import { Preparer } from '../objects/prepare.ts';
import { newTally, type Tally } from '../rows/event-applier.ts';
import type { RowTarget, StorableObject, StoredObject } from '../rows/row-writer.ts';
import { recipeOf, type StoredResource } from '../rows/stored-resource.ts';
import { WriteBudget } from '../rows/write-budget.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { FollowedChange, FollowedLog } from '../types/followed-log.ts';
import { removeOldEntries } from './event-batches.ts';

/** The changes of one collection in a transaction. */
interface Progress {
  readonly target: RowTarget;
  readonly preparer: Preparer;
  readonly tally: Tally;
  reached: string | null;
}

export class FollowedChanges implements FollowedLog {
  readonly #context: WriteContext;
  /** Collections by cluster, key and namespace. Ones that are gone are found out by their id. */
  readonly #collections = new Map<string, StoredResource>();
  readonly #preparers = new WeakMap<StoredResource, Preparer>();

  constructor(context: WriteContext) {
    this.#context = context;
  }

  apply(changes: readonly FollowedChange[]): number {
    const { session } = this.#context;
    const first = changes.findIndex(({ seq }) => seq > session.counters.revision);
    for (let next = first === -1 ? changes.length : first; next < changes.length; )
      next = this.#commitSome(changes, next);
    return session.counters.revision;
  }

  /** Commits one transaction of changes from the index `next` on. Returns the index of the first change after it. */
  #commitSome(changes: readonly FollowedChange[], next: number): number {
    const { bounds, clock, session } = this.#context;
    const progress = new Map<StoredResource, Progress>();
    const index = session.run(() => {
      const budget = new WriteBudget(clock, bounds);
      let index = next;
      while (index < changes.length) {
        const change = must(changes[index], 'a change');
        this.#applyOne(change, progress);
        index += 1;
        if (budget.spend(change.body?.length ?? 0)) break;
      }
      removeOldEntries(this.#context, index - next);
      for (const [resource, { tally, reached }] of progress) {
        session.database
          .statement('UPDATE resource SET last_rv = ?, objects = ? WHERE id = ?')
          .run(reached, resource.objects + tally.added - tally.deleted, resource.handle.id);
      }
      return index;
    });
    for (const [resource, { tally, reached }] of progress) {
      resource.objects += tally.added - tally.deleted;
      resource.lastResourceVersion = reached;
    }
    return index;
  }

  #applyOne(change: FollowedChange, progress: Map<StoredResource, Progress>): void {
    const { applier, rows, session } = this.#context;
    const { seq, type, objectId, namespace, name, resourceVersion, managers, at } = change;
    if (seq !== session.counters.revision + 1)
      throw doesNotFit(change, `the store is at revision ${session.counters.revision}`);
    const resource = this.#collectionOf(change);
    const of = this.#progressOf(resource, progress);
    of.reached = laterResourceVersion(of.reached, resourceVersion);
    const stored = rows.findById(of.target.rowset, objectId);
    if ((type === 'ADDED') !== (stored === null))
      throw doesNotFit(change, `object ${objectId} is ${stored === null ? 'not ' : ''}stored`);
    if (stored === null) {
      session.useObjectId(objectId);
      applier.insert(of.target, { id: objectId, received: read(of, change) }, { managers, at }, of.tally);
    } else if (type === 'DELETED') {
      applier.delete(of.target, stored, { namespace, name, resourceVersion, at }, of.tally);
    } else {
      this.#update(of, stored, change);
    }
  }

  #update(of: Progress, stored: StoredObject, change: FollowedChange): void {
    const { managers, at } = change;
    this.#context.applier.update(of.target, stored, read(of, change), { managers, at }, of.tally);
  }

  #progressOf(resource: StoredResource, progress: Map<StoredResource, Progress>): Progress {
    const known = progress.get(resource);
    if (known !== undefined) return known;
    const { resources } = this.#context;
    resources.prepareRows(resource);
    const of = {
      target: resources.target(resource, must(resource.rowset, 'the rowset of a synced resource')),
      preparer: this.#preparerOf(resource),
      tally: newTally(),
      reached: resource.lastResourceVersion,
    };
    progress.set(resource, of);
    return of;
  }

  #preparerOf(resource: StoredResource): Preparer {
    const recipe = recipeOf(resource);
    const known = this.#preparers.get(resource);
    if (known !== undefined && isDeepStrictEqual(known.recipe, recipe)) return known;
    const preparer = new Preparer(recipe, this.#context.session.database);
    this.#preparers.set(resource, preparer);
    return preparer;
  }

  /** The collection of the object: of all namespaces, or of its own. */
  #collectionOf(change: FollowedChange): StoredResource {
    const { resources } = this.#context;
    const { cluster, key, namespace } = change;
    const place = JSON.stringify([cluster, key, namespace]);
    const known = this.#collections.get(place);
    if (known !== undefined && resources.withId(known.handle.id) === known && known.synced) return known;
    const found = resources
      .all()
      .find(
        ({ handle, synced }) =>
          synced &&
          handle.cluster === cluster &&
          handle.key === key &&
          (handle.namespace === '' || handle.namespace === namespace),
      );
    if (found === undefined) throw doesNotFit(change, `the store has no filled collection of it`);
    this.#collections.set(place, found);
    return found;
  }
}

function read({ preparer }: Progress, { body, uid, resourceVersion }: FollowedChange): StorableObject {
  return preparer.readStored(must(body, 'the body of an entry'), { uid, resourceVersion });
}

function doesNotFit({ seq, type, cluster, key }: FollowedChange, why: string): PortolanError {
  return new PortolanError(
    'CONFLICT',
    `Entry ${seq} of the change log (${type}, ${key} of ${cluster}) does not fit: ${why}. Fill the store again.`,
    { details: { seq } },
  );
}
