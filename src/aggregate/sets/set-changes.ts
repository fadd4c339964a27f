/**
 * Which sets have changed, in an order that all watches share.
 *
 *   commit -> the entries of the change log of the records and of the members' kinds -> the sets that they touch
 *          -> each of these is computed again, without a caller -> it differs: one change, with the next place
 *
 *   place   0 (the first load)   1            2              3
 *   set                          shop/web     shop/api       shop/web
 *   version                      1010         1004 (late)    1020
 *   high    1000                 1010         1010           1020
 *
 * The version of a set is the largest etcd revision of its record and its members, deletions included. It never falls while this process
 * runs. `high` is the largest version so far, and the resourceVersion of lists. Kinds are watched apart, so a version may arrive after a
 * larger one. A caller sees the version without members that it may not get. kept-changes.ts tells where a watch from a version goes on. It
 * may repeat a change.
 *
 * Invariants:
 *   - A listener gets each change once, in the order of places.
 *   - The digests are of sets that no rights have cut. So a caller may get a change without a difference, and never misses one.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import type { Identity } from '../../query/plan/filter.ts';
import { reachedVersion } from '../../query/read/readiness.ts';
import { memberIdentity } from '../../sets/members/member-state.ts';
import { recordsKey, type SetMember, type SetRecord } from '../../sets/record/set-record.ts';
import { readChangedKinds, readEntries } from '../../store/read/changes.ts';
import type { CommittedChanges, LoggedEntry } from '../../store/types/change.ts';
import type { Lease, Reader } from '../../store/types/lease.ts';
import type { ServedApi } from '../protocol/served-api.ts';
import { overlapMs as defaultOverlapMs, KeptChanges, type Missed } from './kept-changes.ts';
import { memberStates, readingOf, type SetPlace, type ShownMember } from './member-states.ts';
import type { StoredRecord } from './set-cache.ts';
import { digestOf, shadowResource, shownLabels } from './shadow-resource.ts';
import { ownView, recordsIn, recordsOf } from './stored-records.ts';

type Json = Readonly<Record<string, unknown>>;

/** A set without its content. */
export interface KnownSet {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Json;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly version: bigint;
}

export interface SetChange {
  readonly place: number;
  readonly key: string;
  readonly version: bigint;
  readonly high: bigint;
  /** Null for a set that was not there. */
  readonly before: KnownSet | null;
  /** Null for a set that is gone. */
  readonly after: KnownSet | null;
}

interface TrackedSet extends KnownSet {
  /** The largest revision of the record. */
  readonly recordVersion: bigint;
  /** That of each member that was there while it is one, by `kind namespace/name`. */
  readonly memberVersions: ReadonlyMap<string, bigint>;
  readonly digest: string;
  /** The keys of its members' kinds. */
  readonly kinds: ReadonlySet<string>;
  /** `kind namespace/name` of its members. */
  readonly members: readonly string[];
  /** Kinds of members that are not read, or not yet. */
  readonly unread: ReadonlySet<string>;
}

interface KindsOfSets {
  /** The keys of the records and of their members' kinds. */
  readonly all: ReadonlySet<string>;
  /** Those of members that are not read, or not yet. */
  readonly unread: ReadonlySet<string>;
}

interface SetChangesOptions {
  readonly reader: Reader;
  readonly api: ServedApi;
  readonly place: () => SetPlace;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
  /** See kept-changes.ts. Default: that of it. */
  readonly overlapMs?: number;
}

/** Entries of one kind that are read one by one; after more, all sets are computed again. */
const mostEntries = 5000;
/** Sets whose members are read by one statement. */
const atOnce = 50;
const leaseMs = 30_000;
/** Milliseconds after the start in which the first load waits for members' kinds in their first sync. */
const patienceMs = 10_000;

export class SetChanges {
  readonly #options: SetChangesOptions;
  readonly #listeners = new Set<(changes: readonly SetChange[]) => void>();
  readonly #kept: KeptChanges<SetChange>;
  #sets = new Map<string, TrackedSet>();
  /** The keys of sets by `kind namespace/name` of their members. */
  #byMember = new Map<string, Set<string>>();
  /** Null before the first load. */
  #position: { readonly epoch: string; readonly sequence: number } | null = null;
  #high = 0n;
  #place = 0;
  /** Ids of the kinds whose changes may matter; null if that is not known. */
  #kindIds: ReadonlySet<number> | null = null;
  /** Null after a change of a set. */
  #kindsOfSets: KindsOfSets | null = null;
  /** Which of the unread kinds could be read at the last pass. */
  #reading = '[]';
  readonly #startedAt: number;
  #failure: unknown = null;
  #isDue = false;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(options: SetChangesOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
    const { overlapMs = defaultOverlapMs, clock } = options;
    this.#kept = new KeptChanges({ charactersOf, now: () => clock.monotonic(), overlapMs });
  }

  /** The largest version so far. */
  get high(): bigint {
    return this.#high;
  }

  /** Loads the sets if they are not loaded, and tries again what failed last. @throws what this attempt throws. */
  async load(): Promise<void> {
    if (this.#position === null || this.#failure !== null) await this.#advance();
    if (this.#failure !== null) throw this.#failure;
  }

  /** Notes a commit. Cheap if none of its kinds matters. */
  wake(committed?: CommittedChanges): void {
    const kindIds = this.#kindIds;
    if (this.#closed) return;
    if (committed !== undefined && kindIds !== null && committed.kindIds.every((id) => !kindIds.has(id))) return;
    void this.#advance();
  }

  /**
   * The version of a set at least, for a read of its snapshot; 0 for an unknown set.
   * @param seen the members that the caller may get. The others count nothing: their revisions would tell whether they exist.
   */
  versionOf({ namespace, name, uid }: SetRecord, seen: readonly SetMember[]): bigint {
    const known = this.#sets.get(keyOf({ namespace, name }));
    if (known?.uid !== uid) return 0n;
    const { cluster } = this.#options.place();
    return largest([
      known.recordVersion,
      ...seen.map((member) => known.memberVersions.get(textOf(memberIdentity(member, cluster))) ?? 0n),
    ]);
  }

  /** All sets. */
  all(): Iterable<KnownSet> {
    return this.#sets.values();
  }

  /** As `KeptChanges.since`. */
  since(version: bigint): Missed<SetChange> | null {
    return this.#kept.since(version);
  }

  /** As `KeptChanges.resumed`. */
  resumed(version: bigint): Missed<SetChange> | null {
    return this.#kept.resumed(version);
  }

  /** The returned function ends it. */
  listen(listener: (changes: readonly SetChange[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#closed = true;
    this.#listeners.clear();
  }

  /** One pass at a time. Commits during a pass lead to one more. Never rejects. */
  #advance(): Promise<void> {
    this.#isDue = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isDue && !this.#closed) {
      this.#isDue = false;
      try {
        await this.#options.reader.lease((lease) => this.#pass(lease), {
          client: 'the changes of sets',
          timeoutMs: leaseMs,
        });
        this.#failure = null;
      } catch (error) {
        if (this.#position !== null && messageOf(error) !== messageOf(this.#failure)) {
          this.#options.log.warn(
            { error: messageOf(error) },
            'the changes of sets cannot be read; the next commit tries again',
          );
        }
        this.#failure = error;
      }
    }
  }

  async #pass(lease: Lease): Promise<void> {
    const position = this.#position;
    const touched =
      position === null || position.epoch !== lease.epoch ? null : await this.#touched(lease, position.sequence);
    if (touched === null || touched.sets.size > 0) {
      // Another replica may have sent versions up to the newest of the sets before it knew what is gone. They are 410 here.
      if (position === null) {
        const reached = await reachedVersion(lease, recordsKey, this.#options.place().cluster);
        this.#high = versionIn(reached ?? '');
      }
      const found = touched === null ? await this.#computeAll(lease) : await this.#computeSome(lease, touched.sets);
      this.#take(found, touched?.versions ?? noVersions, position === null);
    }
    this.#position = { epoch: lease.epoch, sequence: lease.revision };
    const { layouts } = await ownView(lease);
    const { all, unread } = this.#kinds();
    const ids = [...all].map((key) => layouts.get(key)?.kindId);
    this.#reading = await readingOf(lease, this.#options.place(), unread);
    this.#kindIds = unread.size > 0 || ids.includes(undefined) ? null : new Set(ids.filter((id) => id !== undefined));
  }

  /** The sets that entries after the sequence number touch, with the largest version of the entries; null if all may have changed. */
  async #touched(
    lease: Lease,
    after: number,
  ): Promise<{ readonly sets: ReadonlySet<string>; readonly versions: EntryVersions } | null> {
    const { cluster } = this.#options.place();
    const { layouts } = await ownView(lease);
    const { all, unread: unreadKinds } = this.#kinds();
    const keyById = new Map(
      [...all].flatMap((key) => {
        const id = layouts.get(key)?.kindId;
        return id === undefined ? [] : [[id, key] as const];
      }),
    );
    const changed = await readChangedKinds(lease, new Map([...keyById.keys()].map((id) => [id, after])));
    const isOther = (await readingOf(lease, this.#options.place(), unreadKinds)) !== this.#reading;
    const sets = new Set([...this.#sets].flatMap(([key, { unread }]) => (isOther && unread.size > 0 ? [key] : [])));
    const versions = new Map<string, bigint>();
    for (const [kindId, floor] of changed.floors) {
      if (floor > after) return null;
      if (!changed.kindIds.has(kindId)) continue;
      const entries = await readEntries(lease, { kindId, after, limit: mostEntries });
      if (entries.length === mostEntries || entries.some(({ type }) => type === 'RESET')) return null;
      for (const entry of entries) {
        if (entry.cluster !== cluster) continue;
        const kindKey = keyById.get(kindId) ?? '';
        const text = textOf({ key: kindKey, namespace: entry.namespace, name: entry.name });
        versions.set(text, largest([versions.get(text) ?? 0n, versionIn(entry.resourceVersion)]));
        for (const key of this.#keysOf(kindKey, entry)) sets.add(key);
      }
    }
    return { sets, versions };
  }

  #kinds(): KindsOfSets {
    if (this.#kindsOfSets !== null) return this.#kindsOfSets;
    const [all, unread] = [new Set([recordsKey]), new Set<string>()];
    for (const set of this.#sets.values()) {
      for (const key of set.kinds) all.add(key);
      for (const key of set.unread) unread.add(key);
    }
    this.#kindsOfSets = { all, unread };
    return this.#kindsOfSets;
  }

  /** The sets that an entry of the log touches. */
  #keysOf(kindKey: string, { namespace, name }: LoggedEntry): Iterable<string> {
    if (kindKey === recordsKey) return [`${namespace ?? ''}/${name}`];
    return this.#byMember.get(textOf({ key: kindKey, namespace, name })) ?? [];
  }

  async #computeAll(lease: Lease): Promise<ReadonlyMap<string, TrackedSet | null>> {
    const records = await recordsIn(lease, this.#options.place(), { namespace: null, after: null }, null);
    const found = new Map<string, TrackedSet | null>([...this.#sets.keys()].map((key) => [key, null]));
    for (const set of await this.#track(lease, records)) found.set(keyOf(set), set);
    return found;
  }

  async #computeSome(lease: Lease, keys: ReadonlySet<string>): Promise<ReadonlyMap<string, TrackedSet | null>> {
    const sets = [...keys].map((key) => {
      const [namespace = '', name = ''] = key.split('/');
      return { namespace, name };
    });
    const records = await recordsOf(lease, this.#options.place(), sets);
    const found = new Map<string, TrackedSet | null>([...keys].map((key) => [key, null]));
    for (const set of await this.#track(
      lease,
      records.filter((record) => record !== null),
    ))
      found.set(keyOf(set), set);
    return found;
  }

  async #track(lease: Lease, records: readonly StoredRecord[]): Promise<readonly TrackedSet[]> {
    const place = this.#options.place();
    const view = await ownView(lease);
    const tracked: TrackedSet[] = [];
    for (let from = 0; from < records.length; from += atOnce) {
      const some = records.slice(from, from + atOnce);
      const isPatient = this.#position === null && this.#options.clock.monotonic() - this.#startedAt < patienceMs;
      const waits = isPatient ? 'refuse' : 'show';
      const states = await memberStates(
        lease,
        view,
        place,
        some.map(({ record }) => record),
        waits,
      );
      some.forEach((stored, index) => {
        tracked.push(this.#tracked(stored, must(states[index], 'the states of a set'), place.cluster));
      });
    }
    return tracked;
  }

  #tracked(stored: StoredRecord, states: readonly ShownMember[], cluster: string): TrackedSet {
    const { record } = stored;
    const identities = record.members.map((member) => memberIdentity(member, cluster));
    const versions = new Map(states.map(({ member, resourceVersion: of }) => [member, versionIn(of ?? '')]));
    return {
      namespace: record.namespace,
      name: record.name,
      uid: record.uid,
      labels: shownLabels(record),
      createdAt: stored.createdAt,
      version: versionOfStates(record.resourceVersion, states),
      recordVersion: versionIn(record.resourceVersion),
      memberVersions: new Map(
        identities.map((identity, index) => [
          textOf(identity),
          versions.get(must(record.members[index], 'a member')) ?? 0n,
        ]),
      ),
      digest: digestWithout(shadowResource(this.#options.api, stored, states, 0n), states),
      kinds: new Set(identities.map(({ key }) => key)),
      members: identities.map(textOf),
      unread: new Set(
        states.flatMap(({ member, state }) => (state === 'Unknown' ? [memberIdentity(member, cluster).key] : [])),
      ),
    };
  }

  #take(found: ReadonlyMap<string, TrackedSet | null>, entries: EntryVersions, isFirst: boolean): void {
    const changes: SetChange[] = [];
    for (const [key, now] of found) {
      const before = this.#sets.get(key) ?? null;
      if (now === null && before === null) continue;
      const after = now === null ? null : risen(now, before, entries);
      const version = after?.version ?? largest([before?.version ?? 0n, entries.get(`${recordsKey} ${key}`) ?? 0n]);
      this.#index(key, before, after);
      const isSame = before !== null && after !== null && before.uid === after.uid && before.digest === after.digest;
      if (!isSame) changes.push({ place: 0, key, version, high: 0n, before: bare(before), after: bare(after) });
      this.#high = largest([this.#high, version]);
    }
    if (isFirst) {
      this.#kept.begin(this.#high);
      return;
    }
    const numbered: SetChange[] = [];
    let { high } = this.#kept;
    for (const change of changes.toSorted((a, b) => (a.version < b.version ? -1 : 1))) {
      high = largest([high, change.version]);
      this.#place += 1;
      numbered.push({ ...change, place: this.#place, high });
    }
    this.#kept.add(numbered, this.#high);
    if (numbered.length > 0) for (const listener of [...this.#listeners]) listener(numbered);
  }

  #index(key: string, before: TrackedSet | null, after: TrackedSet | null): void {
    this.#kindsOfSets = null;
    for (const member of before?.members ?? []) {
      const sets = this.#byMember.get(member);
      sets?.delete(key);
      if (sets?.size === 0) this.#byMember.delete(member);
    }
    for (const member of after?.members ?? []) {
      const sets = this.#byMember.get(member) ?? new Set();
      this.#byMember.set(member, sets.add(key));
    }
    if (after === null) this.#sets.delete(key);
    else this.#sets.set(key, after);
  }
}

/** The largest revisions of log entries, by `kind namespace/name`. */
type EntryVersions = ReadonlyMap<string, bigint>;
const noVersions: EntryVersions = new Map();

/** `kind namespace/name` */
function textOf({ key, namespace, name }: Pick<Identity, 'key' | 'namespace' | 'name'>): string {
  return `${key} ${namespace ?? ''}/${name}`;
}

/** The set with versions that have not fallen, and with those of the deletions among the entries. */
function risen(now: TrackedSet, before: TrackedSet | null, entries: EntryVersions): TrackedSet {
  const former = before?.uid === now.uid ? before : null;
  const key = `${recordsKey} ${keyOf(now)}`;
  const memberVersions = new Map(
    [...now.memberVersions].map(([text, version]) => [
      text,
      largest([version, former?.memberVersions.get(text) ?? 0n, entries.get(text) ?? 0n]),
    ]),
  );
  const recordVersion = largest([now.recordVersion, former?.recordVersion ?? 0n, entries.get(key) ?? 0n]);
  const version = largest([now.version, former?.version ?? 0n, recordVersion, ...memberVersions.values()]);
  return { ...now, recordVersion, memberVersions, version };
}

/** The part of a set that is kept in changes: nothing that grows with its members. */
function bare(set: TrackedSet | null): KnownSet | null {
  if (set === null) return null;
  const { namespace, name, uid, labels, createdAt, version } = set;
  return { namespace, name, uid, labels, createdAt, version };
}

function charactersOf({ before, after }: SetChange): number {
  return JSON.stringify([before?.labels, after?.labels]).length;
}

/** `namespace/name` */
export function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** The largest revision of a record and of those members that a caller sees. */
export function versionOfStates(resourceVersion: string, states: readonly ShownMember[]): bigint {
  return largest([
    versionIn(resourceVersion),
    ...states.map(({ resourceVersion: of }) => (of === null ? 0n : versionIn(of))),
  ]);
}

/** An etcd revision; 0 for a text that is none. */
function versionIn(text: string): bigint {
  return /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
}

/** 0 for none. */
export function largest(versions: readonly bigint[]): bigint {
  return versions.reduce((most, each) => (each > most ? each : most), 0n);
}

/** The digest of a set whose live members are not in the snapshot: their versions stand for their values. */
function digestWithout(shown: Parameters<typeof digestOf>[0], states: readonly ShownMember[]): string {
  const live = states.flatMap((state) => (state.live ? [state.resourceVersion] : []));
  return createHash('sha256').update(digestOf(shown)).update(JSON.stringify(live)).digest('base64');
}
