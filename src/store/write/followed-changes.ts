/**
 * Applies the objects of a followed log: changes, and the pages of a fill.
 *
 *   changes -> one or more transactions of: entries with the log's own sequence numbers, rows with its object ids, version and count of
 *   each collection, removal of old entries
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
import type { RowTarget, StorableObject } from '../rows/row-writer.ts';
import { recipeOf, type StoredResource } from '../rows/stored-resource.ts';
import { WriteBudget } from '../rows/write-budget.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { FollowedChange, FollowedObject, LogMessage, StoredBody } from '../types/followed-log.ts';
import { removeOldEntries } from './event-batches.ts';
import type { Fill, FollowedFills } from './followed-fills.ts';

/** The changes of one collection in a transaction. */
interface Progress {
  readonly target: RowTarget;
  readonly preparer: Preparer;
  readonly tally: Tally;
  reached: string | null;
}

/** The collection of an object. */
interface Place {
  readonly cluster: string;
  readonly key: string;
  readonly namespace: string;
}

export class FollowedChanges {
  readonly #context: WriteContext;
  readonly #fills: FollowedFills;
  /** Collections by cluster, key and namespace. Ones that are gone are found out by their id. */
  readonly #collections = new Map<string, StoredResource>();
  readonly #preparers = new WeakMap<StoredResource, Preparer>();

  constructor(context: WriteContext, fills: FollowedFills) {
    this.#context = context;
    this.#fills = fills;
  }

  /** Commits one transaction of the changes at the index `next` and after it. Returns the index of the first message after them. */
  commitSome(messages: readonly LogMessage[], next: number): number {
    const { bounds, clock, session } = this.#context;
    const progress = new Map<StoredResource, Progress>();
    const index = session.run(() => {
      const budget = new WriteBudget(clock, bounds);
      let index = next;
      while (index < messages.length) {
        const change = must(messages[index], 'a message');
        if (!isChange(change)) break;
        if (change.seq > session.counters.revision) this.#applyOne(change, progress);
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

  /** Writes the objects of a page into the rowsets of their fill. Inside a transaction. */
  fill(fill: Fill, objects: readonly FollowedObject[]): void {
    const { rows, session } = this.#context;
    for (const object of objects) {
      const { objectId, seq } = object;
      const { target, preparer } = this.#filled(fill);
      session.useObjectId(objectId);
      rows.insert(target, { id: objectId, received: read(preparer, object) }, seq);
    }
  }

  #applyOne(change: FollowedChange, progress: Map<StoredResource, Progress>): void {
    const { session } = this.#context;
    if (change.after !== session.counters.revision)
      throw doesNotFit(change, `the store is at revision ${session.counters.revision}`);
    const resource = this.#collectionOf(change);
    const { cluster, key, namespace: collection } = resource.handle;
    const fill = this.#fills.of({ cluster, key, collection });
    if (fill !== undefined) this.#applyToFill(fill, change);
    else if (resource.rowset === null) throw doesNotFit(change, 'the store has no objects of its collection');
    else this.#applyToRows(change, this.#progressOf(resource, progress));
  }

  #applyToRows(change: FollowedChange, of: Progress): void {
    const { applier, rows, session } = this.#context;
    const { seq, type, objectId, namespace, name, resourceVersion, managers, at } = change;
    of.reached = laterResourceVersion(of.reached, resourceVersion);
    const stored = rows.findById(of.target.rowset, objectId);
    checkStored(change, stored !== null);
    const place = { seq, at };
    if (stored === null) {
      session.useObjectId(objectId);
      const row = { id: objectId, received: readChanged(of.preparer, change) };
      applier.insert(of.target, row, { managers, place }, of.tally);
    } else if (type === 'DELETED') {
      applier.delete(of.target, stored, { namespace, name, resourceVersion, place }, of.tally);
    } else {
      applier.update(of.target, stored, readChanged(of.preparer, change), { managers, place }, of.tally);
    }
  }

  /** A change of rows that are not published. Pages have the objects after the last name so far. */
  #applyToFill(fill: Fill, change: FollowedChange): void {
    const { rows, session } = this.#context;
    const { seq, type, objectId } = change;
    const { target, preparer } = this.#filled(fill);
    session.nextSequence(target.kindId, seq);
    session.useObjectId(objectId);
    if (!this.#fills.covers(fill, change)) return;
    const stored = rows.findById(target.rowset, objectId);
    checkStored(change, stored !== null);
    if (stored === null) rows.insert(target, { id: objectId, received: readChanged(preparer, change) }, seq);
    else if (type === 'DELETED') rows.remove(target, stored);
    else rows.update(target, stored, readChanged(preparer, change), seq);
  }

  #filled({ cluster, key, collection, rowset }: Fill): Pick<Progress, 'target' | 'preparer'> {
    const { resources } = this.#context;
    const resource = this.#collectionOf({ cluster, key, namespace: collection });
    resources.prepareRows(resource);
    return { target: resources.target(resource, rowset), preparer: this.#preparerOf(resource) };
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

  /** The collection of an object: of all namespaces, or of its own. */
  #collectionOf({ cluster, key, namespace }: Place): StoredResource {
    const { resources } = this.#context;
    const place = JSON.stringify([cluster, key, namespace]);
    const known = this.#collections.get(place);
    if (known !== undefined && resources.withId(known.handle.id) === known) return known;
    const found = resources
      .all()
      .find(
        ({ handle }) =>
          handle.cluster === cluster &&
          handle.key === key &&
          (handle.namespace === '' || handle.namespace === namespace),
      );
    if (found === undefined) throw noCollection({ key, cluster });
    this.#collections.set(place, found);
    return found;
  }
}

export function isChange(message: LogMessage): message is FollowedChange {
  return message.type === 'ADDED' || message.type === 'MODIFIED' || message.type === 'DELETED';
}

function readChanged(preparer: Preparer, { body, uid, resourceVersion }: FollowedChange): StorableObject {
  return read(preparer, { body: must(body, 'the body of an entry'), uid, resourceVersion });
}

function read(
  preparer: Preparer,
  { body, uid, resourceVersion }: { readonly body: StoredBody; readonly uid: string; readonly resourceVersion: string },
): StorableObject {
  return preparer.readStored(body, { uid, resourceVersion });
}

function checkStored(change: FollowedChange, isStored: boolean): void {
  if ((change.type === 'ADDED') === isStored)
    throw doesNotFit(change, `object ${change.objectId} is ${isStored ? '' : 'not '}stored`);
}

export function noCollection({ key, cluster }: Pick<Place, 'key' | 'cluster'>): PortolanError {
  return new PortolanError('CONFLICT', `The store has no collection of ${key} of ${cluster}. Fill the store again.`);
}

export function doesNotFit(
  {
    seq,
    type,
    cluster,
    key,
  }: { readonly seq: number; readonly type: string; readonly cluster: string; readonly key: string },
  why: string,
): PortolanError {
  return new PortolanError(
    'CONFLICT',
    `Entry ${seq} of the change log (${type}, ${key} of ${cluster}) does not fit: ${why}. Fill the store again.`,
    { details: { seq } },
  );
}
