/**
 * Applies the objects of a followed log: changes, and the pages of a fill.
 *
 *   changes -> one or more transactions
 *
 * A transaction writes the entries with the sequence numbers of the log, and the rows with its object ids. It writes the version and the
 * count of each collection. It removes old entries.
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
import type { FollowedChange, FollowedObject, LogMessage } from '../types/followed-log.ts';
import { removeOldEntries } from './event-batches.ts';
import type { Fill, FollowedFills } from './followed-fills.ts';

/** The rows of one collection in a transaction: those that are published, or those of a fill. */
interface Writing {
  readonly fill: Fill | null;
  readonly target: RowTarget;
  readonly preparer: Preparer;
  readonly tally: Tally;
  reached: string | null;
}

export class FollowedChanges {
  readonly #context: WriteContext;
  readonly #fills: FollowedFills;
  readonly #preparers = new WeakMap<StoredResource, Preparer>();

  constructor(context: WriteContext, fills: FollowedFills) {
    this.#context = context;
    this.#fills = fills;
  }

  /** Commits one transaction of the changes at the index `next` and after it. Returns the index of the first message after them. */
  commitSome(messages: readonly LogMessage[], next: number): number {
    const { bounds, clock, session } = this.#context;
    const written = new Map<StoredResource, Writing>();
    const index = session.run(() => {
      const budget = new WriteBudget(clock, bounds);
      let index = next;
      while (index < messages.length) {
        const change = must(messages[index], 'a message');
        if (!isChange(change)) break;
        if (change.seq > session.counters.revision) this.#applyOne(change, written);
        index += 1;
        if (budget.spend(change.body?.length ?? 0)) break;
      }
      removeOldEntries(this.#context, index - next);
      for (const [resource, { fill, tally, reached }] of written) {
        if (fill !== null) continue;
        session.database
          .statement('UPDATE resource SET last_rv = ?, objects = ? WHERE id = ?')
          .run(reached, resource.objects + tally.added - tally.deleted, resource.handle.id);
      }
      return index;
    });
    for (const [resource, { tally, reached }] of written) {
      resource.objects += tally.added - tally.deleted;
      resource.lastResourceVersion = reached;
    }
    return index;
  }

  /** Writes the objects of a page into the rowset of their fill. Inside a transaction. */
  fill(resource: StoredResource, objects: readonly FollowedObject[]): void {
    const { rows, session } = this.#context;
    const { target, preparer } = this.#write(resource);
    for (const object of objects) {
      const { objectId, seq } = object;
      session.useObjectId(objectId);
      rows.insert(target, { id: objectId, received: preparer.readStored(object.body, object) }, seq);
    }
  }

  #applyOne(change: FollowedChange, written: Map<StoredResource, Writing>): void {
    const { session } = this.#context;
    if (change.after !== session.counters.revision)
      throw doesNotFit(change, `the store is at revision ${session.counters.revision}`);
    const resource = this.#collectionOf(change);
    const known = written.get(resource);
    const writing = known ?? this.#write(resource);
    if (known === undefined) written.set(resource, writing);
    session.useObjectId(change.objectId);
    if (writing.fill === null) this.#applyToRows(change, writing);
    else this.#applyToFill(change, writing, writing.fill);
  }

  #applyToRows(change: FollowedChange, writing: Writing): void {
    const { applier, rows } = this.#context;
    const { seq, type, objectId, namespace, name, resourceVersion, managers, at } = change;
    const { target, preparer, tally } = writing;
    writing.reached = laterResourceVersion(writing.reached, resourceVersion);
    const stored = rows.findById(target.rowset, objectId);
    checkStored(change, stored !== null);
    const by = { managers, place: { seq, at } };
    if (stored === null) applier.insert(target, { id: objectId, received: read(preparer, change) }, by, tally);
    else if (type === 'DELETED')
      applier.delete(target, stored, { namespace, name, resourceVersion, place: by.place }, tally);
    else applier.update(target, stored, read(preparer, change), by, tally);
  }

  /** A change of rows that are not published. Pages have the objects after the last name so far. */
  #applyToFill(change: FollowedChange, { target, preparer }: Writing, fill: Fill): void {
    const { rows, session } = this.#context;
    const { seq, type, objectId } = change;
    session.nextSequence(target.kindId, seq);
    if (!this.#fills.covers(fill, change)) return;
    const stored = rows.findById(target.rowset, objectId);
    checkStored(change, stored !== null);
    if (stored === null) rows.insert(target, { id: objectId, received: read(preparer, change) }, seq);
    else if (type === 'DELETED') rows.remove(target, stored);
    else rows.update(target, stored, read(preparer, change), seq);
  }

  /** Where the objects of a collection are written: into its fill, if there is one. Inside a transaction. */
  #write(resource: StoredResource): Writing {
    const { resources } = this.#context;
    const { cluster, key, namespace: collection } = resource.handle;
    const fill = this.#fills.of({ cluster, key, collection }) ?? null;
    const rowset = fill?.rowset ?? resource.rowset;
    if (rowset === null) throw noCollection(resource.handle);
    resources.prepareRows(resource);
    return {
      fill,
      target: resources.target(resource, rowset),
      preparer: this.#preparerOf(resource),
      tally: newTally(),
      reached: resource.lastResourceVersion,
    };
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
  #collectionOf({ cluster, key, namespace }: FollowedChange): StoredResource {
    const { resources } = this.#context;
    const found = resources.named({ cluster, key, namespace: '' }) ?? resources.named({ cluster, key, namespace });
    if (found === undefined) throw noCollection({ cluster, key });
    return found;
  }
}

export function isChange(message: LogMessage): message is FollowedChange {
  return message.type === 'ADDED' || message.type === 'MODIFIED' || message.type === 'DELETED';
}

function read(preparer: Preparer, change: FollowedChange): StorableObject {
  return preparer.readStored(must(change.body, 'the body of an entry'), change);
}

function checkStored(change: FollowedChange, isStored: boolean): void {
  if ((change.type === 'ADDED') === isStored)
    throw doesNotFit(change, `object ${change.objectId} is ${isStored ? '' : 'not '}stored`);
}

export function noCollection({ cluster, key }: { readonly cluster: string; readonly key: string }): PortolanError {
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
