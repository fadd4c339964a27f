/**
 * Reads the store of a feeder as the messages of its log (src/store/types/followed-log.ts), from the position of a follower on.
 *
 *   one lease:  new resources -> entries of the change log -> [after the last entry] a page of a running fill
 *               -> [then, if they may have changed] resources that are gone or changed -> clusters and statuses
 *
 * A page is of the same snapshot as the entries before it, so it has the objects exactly as they are after these. Entries that no follower
 * needs are left out: those of collections that are gone, and those before a RESET of their collection. Bodies before a RESET may have
 * left the log, because they had what is redacted now.
 *
 * The last page needs a place in the sequence, so that readers of the follower see a RESET there. It is a number that the writer
 * gave to no entry (`reserve`).
 */
import type { Clock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import {
  type DescriptionRow,
  readCatalogVersion,
  readDescriptionRows,
  readDescriptionTexts,
} from '../../store/read/catalog-rows.ts';
import { readLogFloor } from '../../store/read/changes.ts';
import {
  type FollowedCollection,
  type IdentifiedCluster,
  type ReadBounds,
  readFollowedCollections,
  readFollowedEntries,
  readFollowedObjects,
  readIdentifiedClusters,
  readLastResets,
  statusIn,
  type UnplacedEntry,
} from '../../store/read/followed-log-rows.ts';
import {
  type CollectionName,
  collectionText,
  type FollowedPage,
  type FollowerPosition,
  type LogMessage,
  type RunningFill,
} from '../../store/types/followed-log.ts';
import type { Lease, Reader } from '../../store/types/lease.ts';

interface LogReaderOptions {
  readonly reader: Reader;
  readonly clock: Clock;
  /** A sequence number that no entry of the log has. */
  reserve(): Promise<number>;
  /** Entries that are read at a time, and objects of a page; default 500 with 4 MiB. */
  readonly bounds?: ReadBounds;
}

/** Milliseconds between two looks at clusters and statuses. */
const statusMs = 1000;
const defaultBounds: ReadBounds = { limit: 500, maxBytes: 4 * 1024 * 1024 };

/** A fill that this reader goes on with. `end`: the reserved number of its last page. */
interface Fill extends RunningFill {
  readonly end: number | null;
}

/** A fill whose last page has the reserved number `end`. */
interface EndingFill {
  readonly fill: Fill;
  readonly end: number;
  /** Undefined if it is gone. */
  readonly collection: FollowedCollection | undefined;
}

/** A resource of the follower. */
interface KnownResource {
  readonly digest: string;
  readonly namespaces: readonly string[];
}

const resourceOf = ({ cluster, key }: Omit<CollectionName, 'collection'>): string => JSON.stringify([cluster, key]);

/** The catalog and the progress of a snapshot. */
interface Snapshot {
  readonly collections: ReadonlyMap<string, FollowedCollection>;
  /** By resource. */
  readonly resources: ReadonlyMap<string, readonly FollowedCollection[]>;
}

export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #fills = new Map<string, Fill>();
  readonly #resources = new Map<string, KnownResource>();
  readonly #statuses = new Map<string, string>();
  readonly #clusters = new Map<string, string>();
  /** The sequence number of the newest entry that was sent, and of the newest that was read. */
  #after: number;
  #readTo: number;
  /** The follower has nothing yet. */
  #isEmpty: boolean;
  /** The last RESET of each collection among the entries that are not sent yet. */
  #resets: ReadonlyMap<string, number> = new Map();
  #catalogVersion = -1;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LogReaderOptions, position: FollowerPosition) {
    this.#options = options;
    this.#after = position.revision;
    this.#readTo = position.revision;
    for (const fill of position.filling) this.#fills.set(collectionText(fill), { ...fill, end: null });
    for (const [resource, some] of Map.groupBy(position.collections, resourceOf)) {
      this.#resources.set(resource, { digest: '', namespaces: some.map(({ collection }) => collection) });
    }
    for (const name of position.clusters) this.#clusters.set(name, '');
    this.#isEmpty = position.revision === 0;
  }

  /** The next messages; none if nothing is new. Throws GONE if the log of the store does not go on at the position. */
  async next(): Promise<readonly LogMessage[]> {
    const { reader, reserve } = this.#options;
    const messages = await reader.lease((lease) => this.#read(lease));
    for (const [text, fill] of this.#fills) {
      if (fill.end === ready) this.#fills.set(text, { ...fill, end: await reserve() });
    }
    return messages;
  }

  async #read(lease: Lease): Promise<readonly LogMessage[]> {
    if (this.#isEmpty) return this.#begin(lease);
    const { clock, bounds = defaultBounds } = this.#options;
    await this.#checkPlace(lease);
    const { entries, isWhole } = await readFollowedEntries(lease, this.#readTo, bounds);
    const catalogVersion = await readCatalogVersion(lease);
    const due = isWhole && clock.monotonic() - this.#lookedAt >= statusMs;
    const changed = isWhole && catalogVersion !== this.#catalogVersion;
    const looks = due || changed || entries.some(({ type }) => type === 'RESET');
    const snapshot = looks ? await readSnapshot(lease) : null;
    // Their texts are hashed, which takes long for many resources.
    const rows = snapshot !== null && (changed || this.#lacksOrKeeps(snapshot)) ? await readDescriptionRows(lease) : [];
    const messages: LogMessage[] = [];
    if (snapshot !== null) messages.push(...(await this.#resourcesOf(lease, snapshot, rows, 'new')));
    const resets = entries.length === 0 ? [] : await readLastResets(lease, this.#readTo);
    this.#resets = new Map(resets.map((reset) => [collectionText(reset), reset.seq]));
    const ending = await this.#ending(lease);
    messages.push(...this.#placed(entries, ending, isWhole ? lease.revision : null));
    if (isWhole) messages.push(...(await this.#page(lease, bounds)));
    if (!isWhole || snapshot === null) return messages;
    messages.push(...(await this.#resourcesOf(lease, snapshot, rows, 'all')));
    this.#catalogVersion = catalogVersion;
    if (due) {
      messages.push(...this.#statusesOf(snapshot), ...this.#clustersOf(await readIdentifiedClusters(lease)));
      this.#lookedAt = clock.monotonic();
    }
    return messages;
  }

  /** Throws GONE if the log of the store has lost entries that the follower lacks, or entries that it has. */
  async #checkPlace(lease: Lease): Promise<void> {
    const floor = await readLogFloor(lease);
    if (floor > this.#readTo)
      throw new PortolanError('GONE', `The change log begins after ${floor}, and the follower is at ${this.#readTo}.`);
    if (lease.revision < this.#readTo)
      throw new PortolanError(
        'GONE',
        `The change log ends at ${lease.revision}, and the follower is at ${this.#readTo}.`,
      );
  }

  /** Has the follower other collections than the snapshot? */
  #lacksOrKeeps({ collections }: Snapshot): boolean {
    const known = [...this.#resources.values()].reduce((sum, { namespaces }) => sum + namespaces.length, 0);
    if (known !== collections.size) return true;
    return [...collections.values()].some(
      (each) => this.#resources.get(resourceOf(each))?.namespaces.includes(each.collection) !== true,
    );
  }

  /** The first messages for an empty follower: the resources, and the collections whose pages follow. */
  async #begin(lease: Lease): Promise<readonly LogMessage[]> {
    const snapshot = await readSnapshot(lease);
    const resources = await this.#resourcesOf(lease, snapshot, await readDescriptionRows(lease), 'new');
    const synced = [...snapshot.collections.values()].filter(({ rowset }) => rowset !== null);
    const collections = synced.map(({ cluster, key, collection }) => ({ cluster, key, collection }));
    for (const each of collections) this.#fills.set(collectionText(each), { ...each, upTo: null, end: null });
    this.#after = lease.revision;
    this.#readTo = lease.revision;
    this.#isEmpty = false;
    return [...resources, { type: 'BEGIN', revision: lease.revision, collections }];
  }

  /** The fills whose last page has a number, with their collections. */
  async #ending(lease: Lease): Promise<readonly EndingFill[]> {
    const found: EndingFill[] = [];
    for (const fill of this.#fills.values()) {
      if (fill.end === null || fill.end === ready) continue;
      const [collection] = await readFollowedCollections(lease, fill);
      found.push({ fill, end: fill.end, collection });
    }
    return found.toSorted((one, other) => one.end - other.end);
  }

  /**
   * Gives the entries their places, and puts the last pages of fills between them.
   * @param whole the revision up to which the entries are all; null if there are more
   */
  #placed(
    entries: readonly UnplacedEntry[],
    ending: readonly EndingFill[],
    whole: number | null,
  ): readonly LogMessage[] {
    const messages: LogMessage[] = [];
    const place = (seq: number): { readonly seq: number; readonly after: number } => {
      const after = this.#after;
      this.#after = seq;
      return { seq, after };
    };
    const end = (before: number): void => {
      for (const { fill, end, collection } of ending) {
        if (end >= before || this.#fills.get(collectionText(fill)) !== fill) continue;
        // A collection that is gone, or that has no objects, has a RESET later in the log.
        if (collection !== undefined && collection.rowset !== null)
          messages.push(this.#lastPage(fill, place(end), collection));
        this.#fills.delete(collectionText(fill));
      }
    };
    for (const entry of entries) {
      end(entry.seq);
      this.#readTo = entry.seq;
      if (!this.#isWanted(entry)) continue;
      if (entry.type === 'RESET') {
        if (entry.reason !== 'derived') this.#fills.delete(collectionText(entry));
        if (entry.reason === 'published') {
          const { cluster, key, collection } = entry;
          this.#fills.set(collectionText(entry), { cluster, key, collection, upTo: null, end: null });
        }
      }
      messages.push({ ...entry, ...place(entry.seq) });
    }
    if (whole !== null) end(whole + 1);
    return messages;
  }

  /** True if the follower needs the entry. */
  #isWanted(entry: UnplacedEntry): boolean {
    const known = this.#resources.get(resourceOf(entry));
    if (known === undefined) return false;
    if (entry.type === 'RESET' && entry.reason === 'derived') return true;
    const of = entry.type === 'RESET' ? entry.collection : entry.namespace;
    const collection = known.namespaces.find((each) => each === of || (each === '' && entry.type !== 'RESET'));
    if (collection === undefined) return false;
    const { cluster, key } = entry;
    if (entry.seq < (this.#resets.get(collectionText({ cluster, key, collection })) ?? 0)) return false;
    if ('body' in entry && entry.type !== 'DELETED' && entry.body === null)
      throw new PortolanError('GONE', `The change log has no body of entry ${entry.seq} any more.`);
    return true;
  }

  #lastPage(
    { cluster, key, collection }: Fill,
    place: { readonly seq: number; readonly after: number },
    { resourceVersion }: FollowedCollection,
  ): FollowedPage {
    const last = { ...place, at: this.#options.clock.now(), resourceVersion: resourceVersion ?? '' };
    return { type: 'PAGE', cluster, key, collection, objects: [], last };
  }

  /** The next page of the fill that has waited longest. */
  async #page(lease: Lease, bounds: ReadBounds): Promise<readonly LogMessage[]> {
    const [text, fill] = [...this.#fills].find(([, { end }]) => end === null) ?? [];
    if (text === undefined || fill === undefined) return [];
    const [found] = await readFollowedCollections(lease, fill);
    const rowset = found?.rowset ?? null;
    this.#fills.delete(text);
    if (rowset === null) return [];
    const { cluster, key, collection, upTo } = fill;
    const { objects, isWhole } = await readFollowedObjects(lease, { rowset, upTo }, bounds);
    const final = objects.at(-1);
    const reached = final === undefined ? upTo : { namespace: final.namespace, name: final.name };
    this.#fills.set(text, { ...fill, upTo: reached, end: isWhole ? ready : null });
    return objects.length === 0 ? [] : [{ type: 'PAGE', cluster, key, collection, objects, last: null }];
  }

  /** The resources that the follower lacks; with `all` also the resources that have changed or are gone. */
  async #resourcesOf(
    lease: Lease,
    { resources }: Snapshot,
    rows: readonly DescriptionRow[],
    which: 'new' | 'all',
  ): Promise<readonly LogMessage[]> {
    const messages: LogMessage[] = [];
    const wanted = rows.flatMap((row) => {
      if (!resources.has(resourceOf(row))) return [];
      const known = this.#resources.get(resourceOf(row));
      const now = (resources.get(resourceOf(row)) ?? []).map(({ collection }) => collection).sort();
      const lacks = now.some((each) => known?.namespaces.includes(each) !== true);
      const namespaces = which === 'new' ? [...new Set([...(known?.namespaces ?? []), ...now])].sort() : now;
      const isSame =
        known !== undefined && known.digest === row.digest && known.namespaces.join() === namespaces.join();
      return (which === 'new' ? lacks : !isSame) ? [{ row, namespaces }] : [];
    });
    const texts = await readDescriptionTexts(
      lease,
      wanted.map(({ row }) => row),
    );
    for (const { row, namespaces } of wanted) {
      const text = texts.get(row.id);
      if (text === undefined) continue;
      this.#resources.set(resourceOf(row), { digest: which === 'new' ? '' : row.digest, namespaces });
      messages.push({ type: 'RESOURCE', described: JSON.parse(text), namespaces });
    }
    if (which === 'new') return messages;
    for (const resource of this.#resources.keys()) {
      if (resources.has(resource)) continue;
      const [cluster, key] = JSON.parse(resource) as [string, string];
      messages.push({ type: 'GONE', cluster, key });
      this.#resources.delete(resource);
    }
    return messages;
  }

  #statusesOf({ collections }: Snapshot): readonly LogMessage[] {
    const messages: LogMessage[] = [];
    for (const [text, collection] of collections) {
      const now = JSON.stringify([collection.status, collection.resourceVersion]);
      if (this.#statuses.get(text) === now) continue;
      this.#statuses.set(text, now);
      const { cluster, key, collection: namespace, resourceVersion } = collection;
      const status = statusIn(collection);
      messages.push({ type: 'STATUS', cluster, key, collection: namespace, status, resourceVersion });
    }
    for (const text of this.#statuses.keys()) if (!collections.has(text)) this.#statuses.delete(text);
    return messages;
  }

  #clustersOf(clusters: readonly IdentifiedCluster[]): readonly LogMessage[] {
    const messages: LogMessage[] = [];
    for (const cluster of clusters) {
      const now = JSON.stringify(cluster);
      if (this.#clusters.get(cluster.name) !== now) messages.push({ type: 'CLUSTER', ...cluster, gone: false });
      this.#clusters.set(cluster.name, now);
    }
    const names = new Set(clusters.map(({ name }) => name));
    for (const name of this.#clusters.keys()) {
      if (names.has(name)) continue;
      messages.push({ type: 'CLUSTER', name, uid: null, server: null, version: null, error: null, gone: true });
      this.#clusters.delete(name);
    }
    return messages;
  }
}

/** In place of the number of a last page: all objects are sent, and the number is not reserved yet. */
const ready = -1;

async function readSnapshot(lease: Lease): Promise<Snapshot> {
  const collections = await readFollowedCollections(lease);
  return {
    collections: new Map(collections.map((each) => [collectionText(each), each])),
    resources: Map.groupBy(collections, resourceOf),
  };
}
