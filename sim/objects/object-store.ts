/**
 * The simulated etcd: the objects of all resources, one revision counter, and a bounded history of each resource.
 *
 * Owns: the current objects in the order of their keys, the revision counter, and the latest events of each resource.
 * Never: depends on kinds, changes a given object, or sends an event before the object is stored.
 *
 * Life of a write:
 * - `write` or `remove` takes the next revision. The caller builds the object with it.
 * - The store records the object and the event.
 * - Listeners receive the event synchronously and in revision order. If a listener writes, the new event follows the current one.
 * - The store drops the event for one of three reasons:
 *   - Its resource has more than `historyEvents` events, and this is the oldest of them.
 *   - The events of all resources have more than `historyBytes`, and this is the oldest of all.
 *   - `compact()` was called.
 *
 * Dropped events raise the floor of the resource. Below the floor, a watch or a snapshot has gaps. So the layers above answer 410.
 */
import { must } from '../../src/base/must.ts';
import { EventHistory } from './event-history.ts';
import { type JsonObject, jsonBytes, sharing } from './json.ts';

/** How one served version represents a stored object. The text cache compares views by identity. */
export interface View {
  convert(object: JsonObject): JsonObject;
  /** The JSON text of a converted object. */
  text(converted: JsonObject): string;
}

/** One version of one object. Immutable. Caches the JSON texts of the two views used last, if `keepTexts` is true. */
export class Stored {
  readonly storage: string;
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly object: JsonObject;
  readonly #keepTexts: boolean;
  #bytes: number | undefined;
  #texts: { view: View; text: string }[] | undefined;

  constructor(
    storage: string,
    namespace: string,
    name: string,
    uid: string,
    revision: number,
    object: JsonObject,
    keepTexts = true,
  ) {
    this.storage = storage;
    this.namespace = namespace;
    this.name = name;
    this.uid = uid;
    this.key = keyOf(namespace, name);
    this.revision = revision;
    this.object = object;
    this.#keepTexts = keepTexts;
  }

  /** The size of the object as JSON, nearly. */
  get bytes(): number {
    this.#bytes ??= jsonBytes(this.object);
    return this.#bytes;
  }

  /** Drops the cached texts, when the object is replaced or removed. */
  forgetTexts(): void {
    this.#texts = undefined;
  }

  /** The JSON text of the object in `view`. */
  text(view: View): string {
    const known = this.#texts?.find((slot) => slot.view === view);
    if (known) return known.text;
    const text = view.text(view.convert(this.object));
    if (this.#keepTexts) this.#texts = [{ view, text }, ...(this.#texts ?? []).slice(0, 1)];
    return text;
  }
}

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** The new version; for DELETED the last version, with the revision of the deletion. */
  readonly stored: Stored;
  readonly previous: Stored | undefined;
}

type StoreListener = (event: StoreEvent) => void;

/** The key of an object within its resource. Lists are sorted by it. */
function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** All objects at one revision, without history, as in a backup. */
export interface StoreBackup {
  readonly revision: number;
  readonly objects: ReadonlyMap<string, readonly Stored[]>;
}

interface Collection {
  readonly objects: Map<string, Stored>;
  /** Sorted; holds exactly the keys of `objects`. */
  readonly keys: string[];
  readonly history: EventHistory<StoreEvent>;
  /** The object that was written last. The next one is often made from the same template, and shares memory with it. */
  newest?: Stored;
}

/** The position of the first key that is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  if (high > 0 && must(keys[high - 1], 'a last key') < key) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (must(keys[middle], 'a key in range') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class ObjectStore {
  readonly #historyEvents: number;
  readonly #historyBytes: number;
  readonly #keepTexts: boolean;
  #historySize = 0;
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Map<string, Set<StoreListener>>();
  readonly #queue: StoreEvent[] = [];
  #dispatching = false;
  #revision: number;
  #compacted = 0;

  /**
   * `firstRevision`: the initial value of the counter. `historyEvents`: the number of events kept for each resource.
   * `historyBytes`: the bytes, as JSON, of the versions in the events of all resources; unlimited by default. `keepTexts`: whether
   * versions cache their JSON texts, for many readers of the same objects; on by default.
   */
  constructor(options: { historyEvents: number; historyBytes?: number; keepTexts?: boolean; firstRevision?: number }) {
    this.#historyEvents = options.historyEvents;
    this.#historyBytes = options.historyBytes ?? Number.POSITIVE_INFINITY;
    this.#keepTexts = options.keepTexts ?? true;
    this.#revision = options.firstRevision ?? 1;
  }

  /** The revision of the newest write. */
  get revision(): number {
    return this.#revision;
  }

  get(storage: string, namespace: string, name: string): Stored | undefined {
    return this.#collections.get(storage)?.objects.get(keyOf(namespace, name));
  }

  /** How many objects the resource holds now. */
  count(storage: string): number {
    return this.#collections.get(storage)?.objects.size ?? 0;
  }

  /** The object at an index in key order, or undefined. */
  nth(storage: string, index: number): Stored | undefined {
    const collection = this.#collections.get(storage);
    const key = collection?.keys[index];
    return key === undefined ? undefined : collection?.objects.get(key);
  }

  /** The resources that hold or have held an object. */
  storages(): string[] {
    return [...this.#collections.keys()];
  }

  /** All current objects of a resource (of one namespace, if given) in key order. */
  list(storage: string, namespace?: string): Stored[] {
    const collection = this.#collections.get(storage);
    if (!collection) return [];
    const { keys, objects } = collection;
    const out: Stored[] = [];
    const prefix = namespace === undefined ? '' : `${namespace}/`;
    for (let i = prefix === '' ? 0 : lowerBound(keys, prefix); i < keys.length; i++) {
      const key = must(keys[i], 'a key in range');
      if (!key.startsWith(prefix)) break;
      out.push(must(objects.get(key), 'an object for every key'));
    }
    return out;
  }

  /** Whether the history of a resource reaches back to `revision`: `snapshot` and `eventsSince` have no gap from there. */
  reaches(storage: string, revision: number): boolean {
    return revision >= Math.max(this.#collections.get(storage)?.history.floor ?? 0, this.#compacted);
  }

  /**
   * The resource at `revision`, in key order; undefined when the history does not reach back that far. Costs one pass over the
   * objects and the events since that revision.
   */
  snapshot(storage: string, revision: number, namespace?: string): Stored[] | undefined {
    const missed = this.eventsSince(storage, revision);
    if (!missed) return undefined;
    const then = new Map<string, Stored | undefined>();
    for (const { stored, previous } of missed) if (!then.has(stored.key)) then.set(stored.key, previous);
    const now = this.list(storage, namespace);
    if (then.size === 0) return now;
    const kept = now.filter((stored) => !then.has(stored.key));
    for (const stored of then.values()) {
      if (stored && (namespace === undefined || stored.namespace === namespace)) kept.push(stored);
    }
    return kept.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  /** The events of a resource after `revision`, oldest first; undefined when some of them were dropped. */
  eventsSince(storage: string, revision: number): StoreEvent[] | undefined {
    if (!this.reaches(storage, revision)) return undefined;
    return this.#collections.get(storage)?.history.since(revision) ?? [];
  }

  /** Creates or replaces an object. `build` gets the resourceVersion and returns the whole object. */
  write(
    storage: string,
    namespace: string,
    name: string,
    uid: string,
    build: (resourceVersion: string) => JsonObject,
  ): Stored {
    const collection = this.#collection(storage);
    const previous = collection.objects.get(keyOf(namespace, name));
    const revision = ++this.#revision;
    const object = sharing(build(String(revision)), (previous ?? collection.newest)?.object);
    const stored = new Stored(storage, namespace, name, uid, revision, object, this.#keepTexts);
    collection.newest = stored;
    if (!previous) collection.keys.splice(lowerBound(collection.keys, stored.key), 0, stored.key);
    collection.objects.set(stored.key, stored);
    this.#record(collection, { type: previous ? 'MODIFIED' : 'ADDED', revision, stored, previous });
    return stored;
  }

  /** Removes an object; `build` returns its last version. Undefined when it does not exist. */
  remove(
    storage: string,
    namespace: string,
    name: string,
    build: (resourceVersion: string) => JsonObject,
  ): Stored | undefined {
    const collection = this.#collection(storage);
    const key = keyOf(namespace, name);
    const previous = collection.objects.get(key);
    if (!previous) return undefined;
    const revision = ++this.#revision;
    const stored = new Stored(
      storage,
      namespace,
      name,
      previous.uid,
      revision,
      build(String(revision)),
      this.#keepTexts,
    );
    collection.objects.delete(key);
    collection.keys.splice(lowerBound(collection.keys, key), 1);
    this.#record(collection, { type: 'DELETED', revision, stored, previous });
    return stored;
  }

  /** Subscribes to every event of a resource, or of all with '*'. Returns the unsubscribe function. */
  subscribe(storage: string, listener: StoreListener): () => void {
    let set = this.#listeners.get(storage);
    if (!set) {
      set = new Set();
      this.#listeners.set(storage, set);
    }
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Drops all history: afterwards watches can resume only from the current revision. */
  compact(): void {
    this.#compacted = this.#revision;
    this.#historySize = 0;
    for (const { history } of this.#collections.values()) history.clear();
  }

  /** A backup of all current objects. */
  save(): StoreBackup {
    return {
      revision: this.#revision,
      objects: new Map(this.storages().map((storage) => [storage, this.list(storage)])),
    };
  }

  /** Restores a backup and its revision. The history is dropped, and listeners receive no events. */
  restore({ revision, objects }: StoreBackup): void {
    for (const storage of new Set([...this.storages(), ...objects.keys()])) {
      const saved = objects.get(storage) ?? [];
      this.#collections.set(storage, {
        objects: new Map(saved.map((stored) => [stored.key, stored])),
        keys: saved.map(({ key }) => key),
        history: new EventHistory(),
      });
    }
    this.#historySize = 0;
    this.#revision = revision;
    this.#compacted = revision;
  }

  #collection(storage: string): Collection {
    let collection = this.#collections.get(storage);
    if (!collection) {
      collection = { objects: new Map(), keys: [], history: new EventHistory() };
      this.#collections.set(storage, collection);
    }
    return collection;
  }

  #record(collection: Collection, event: StoreEvent): void {
    collection.history.add(event);
    this.#historySize += event.stored.bytes;
    this.#trim(collection);
    this.#queue.push(event);
    if (this.#dispatching) return;
    this.#dispatching = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
        for (const listener of [...(this.#listeners.get(next.stored.storage) ?? [])]) listener(next);
        for (const listener of [...(this.#listeners.get('*') ?? [])]) listener(next);
        next.previous?.forgetTexts();
        if (next.type === 'DELETED') next.stored.forgetTexts();
      }
    } finally {
      this.#dispatching = false;
    }
  }

  /** Drops events of the collection above its number, then the oldest events of all collections above the bytes. */
  #trim({ history }: Collection): void {
    while (history.length > this.#historyEvents) this.#historySize -= history.dropOldest();
    while (this.#historySize > this.#historyBytes) {
      let oldest: EventHistory<StoreEvent> | undefined;
      for (const { history: other } of this.#collections.values()) {
        if (other.oldestRevision === undefined) continue;
        if (oldest?.oldestRevision === undefined || other.oldestRevision < oldest.oldestRevision) oldest = other;
      }
      this.#historySize -= must(oldest, 'a history with an event').dropOldest();
    }
  }
}
