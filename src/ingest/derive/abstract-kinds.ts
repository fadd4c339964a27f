/**
 * Keeps the objects of abstract kinds in step with those of their members.
 *
 *   collection of a member is synced -> all its objects are derived and stored, as a first list
 *   a commit                         -> the log's entries after the position of the collection -> its changed objects are derived again
 *   RESET, or the log was cut        -> all objects again
 *   a member that is gone, a kind that is not configured any more -> its collection is dropped
 *
 * There is a collection for each member and cluster. `lastResourceVersion` of the collection is its position in the change log, and the
 * resourceVersion of its objects too. So a restart continues where the process before ended.
 * Invariant: at its position, the collection has the derived object of each object of the member that its conditions let in.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type AbstractKind, memberCluster } from '../../catalog/abstract/abstract-kind.ts';
import { type Derive, deriverOf } from '../../catalog/abstract/derive-object.ts';
import { abstractKey, describeAbstractKind } from '../../catalog/abstract/describe-abstract-kind.ts';
import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { IncomingEvent, IncomingObject } from '../../store/types/incoming-object.ts';
import type { MemberObject } from '../../store/types/member-reads.ts';
import { idleStatus, type ResourceHandle } from '../../store/types/progress.ts';
import type { Writer } from '../../store/types/writer.ts';

interface DeriverContext {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The objects of one abstract kind that come from one member in one cluster. */
interface Collection {
  /** Its description as JSON. */
  readonly text: string;
  readonly cluster: string;
  /** resourceKey of the member. */
  readonly member: string;
  /** resourceKey of the abstract kind. */
  readonly key: string;
  readonly handle: ResourceHandle;
  readonly derive: Derive;
}

/** Objects that are derived in one piece, and entries of the log that are read at once. */
const atOnce = 200;
const retryMs = 5000;

export class AbstractKinds {
  readonly #context: DeriverContext;
  #kinds: readonly AbstractKind[] = [];
  #collections: readonly Collection[] = [];
  #outdated = true;
  /** There are no abstract kinds, and no collections of earlier ones. */
  #isIdle = false;
  /** The kinds with commits since the last look. */
  readonly #changed = new Set<number>();
  #woken = Promise.withResolvers<void>();

  constructor(context: DeriverContext) {
    this.#context = context;
  }

  /** Derives the objects of these kinds from now on, and drops all others. */
  declare(kinds: readonly AbstractKind[]): void {
    this.#kinds = kinds;
    this.#isIdle = false;
    this.#outdated = true;
    this.#woken.resolve();
  }

  /** Call after each commit. @param catalogChanged collections may have come or gone */
  wake(kindIds: readonly number[], catalogChanged: boolean): void {
    if (this.#isIdle) return;
    for (const id of kindIds) this.#changed.add(id);
    this.#outdated ||= catalogChanged;
    this.#woken.resolve();
  }

  /** Runs until the signal. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, log } = this.#context;
    stop.addEventListener('abort', () => this.#woken.resolve(), { once: true });
    while (!stop.aborted) {
      this.#woken = Promise.withResolvers();
      try {
        await this.#catchUp(stop);
        await this.#woken.promise;
        // Several commits of one turn are one.
        await nextTurn();
      } catch (error) {
        if (stop.aborted) return;
        this.#outdated = true;
        log.error({ error: messageOf(error) }, 'objects of abstract kinds could not be derived; it is tried again');
        await clock.sleep(retryMs, stop).catch(() => {});
      }
    }
  }

  async #catchUp(stop: AbortSignal): Promise<void> {
    const all = this.#outdated;
    const changed = new Set(this.#changed);
    this.#changed.clear();
    if (all) {
      this.#outdated = false;
      await this.#declareAll();
    }
    const { members } = this.#context.writer;
    for (const collection of this.#collections) {
      if (!all && !changed.has(members.kindId(collection.member) ?? 0)) continue;
      while (!stop.aborted && (await this.#step(collection))) await nextTurn();
    }
  }

  /** Declares the collections that there should be, and drops the others. */
  async #declareAll(): Promise<void> {
    const { writer } = this.#context;
    const handles = writer.members.collections();
    const there = new Set(handles.map(({ id }) => id));
    const known = new Map(
      this.#collections.flatMap((each) => (there.has(each.handle.id) ? [[each.text, each] as const] : [])),
    );
    const wanted: Collection[] = [];
    for (const kind of this.#kinds) {
      const key = abstractKey(kind);
      for (const member of kind.members) {
        const clusters = new Map(
          handles.flatMap((handle) => (handle.key === member.resource ? [[handle.cluster, handle]] : [])),
        );
        for (const [cluster, of] of clusters) {
          const described = describeAbstractKind(kind, cluster, member, writer.state(of).described.redacted);
          const text = JSON.stringify(described);
          wanted.push(
            known.get(text) ?? {
              text,
              cluster,
              member: member.resource,
              key,
              handle: writer.declare(described),
              derive: deriverOf(kind, member),
            },
          );
        }
      }
    }
    const kept = new Set(wanted.map(({ handle }) => handle.id));
    for (const handle of handles) if (isAbstractKey(handle.key) && !kept.has(handle.id)) await writer.drop(handle);
    this.#collections = wanted;
    this.#isIdle = this.#kinds.length === 0;
  }

  /** One bounded step; false if the collection is in step. */
  async #step(collection: Collection): Promise<boolean> {
    const { writer } = this.#context;
    const { cluster, member, handle } = collection;
    if (!writer.members.isSynced(cluster, member)) return false;
    const { lastResourceVersion, synced, outdated } = writer.state(handle);
    const position = Number(lastResourceVersion ?? Number.NaN);
    if (!synced || outdated || Number.isNaN(position)) {
      await this.#deriveAll(collection);
      return true;
    }
    const changes = writer.members.changes(cluster, member, position, atOnce);
    if (changes === null) {
      await this.#deriveAll(collection);
      return true;
    }
    if (changes.upTo <= position) return false;
    const version = String(changes.upTo);
    const events = changes.names.flatMap(
      ({ namespace, name }) => this.#eventOf(collection, namespace, name, version) ?? [],
    );
    // A commit without an event would wake this loop again.
    if (events.length === 0) writer.bookmark(handle, version);
    else writer.apply(handle, events, version);
    return true;
  }

  async #deriveAll(collection: Collection): Promise<void> {
    const { writer } = this.#context;
    const { cluster, member, key, handle } = collection;
    const version = String(writer.revision());
    const replace = writer.replace(handle, 'compare');
    try {
      for (let after: MemberObject | null = null; ; ) {
        const page: readonly MemberObject[] = writer.members.page(cluster, member, after, atOnce);
        replace.put(
          page.flatMap((object) => {
            const derived = this.#incoming(collection, object, version);
            if (derived === null) return [];
            // An object that stays as it is keeps its version, so that it is no change.
            const stored = writer.members.one(handle.cluster, key, object.namespace, object.name);
            return stored !== null && isSame(stored, derived) ? asStored(stored) : derived;
          }),
        );
        after = page.at(-1) ?? null;
        if (after === null) break;
        await replace.room();
        await nextTurn();
      }
    } catch (error) {
      replace.abort();
      throw error;
    }
    await replace.commit(version);
    this.#noteSign(handle);
  }

  /** The derived object; null for an object that its conditions leave out, and for one that cannot be derived. */
  #incoming({ cluster, member, derive }: Collection, object: MemberObject, version: string): IncomingObject | null {
    const { namespace, name, text, uid, health } = object;
    try {
      const derived = derive({ cluster, body: parseExact(text), health });
      if (derived === null) return null;
      return { text: JSON.stringify(derived), uid: derivedUid(cluster, uid), resourceVersion: version };
    } catch (error) {
      const { log } = this.#context;
      log.error(
        { cluster, member, namespace, name, error: messageOf(error) },
        'an object of an abstract kind is left out',
      );
      return null;
    }
  }

  #noteSign(handle: ResourceHandle): void {
    const { clock, writer } = this.#context;
    writer.setStatus(handle, { ...idleStatus, phase: 'WATCHING', lastSignAt: clock.now() });
  }

  /** The change of the derived object; null if there is none. */
  #eventOf(collection: Collection, namespace: string, name: string, version: string): IncomingEvent | null {
    const { cluster, member, key, handle } = collection;
    const { members } = this.#context.writer;
    const object = members.one(cluster, member, namespace, name);
    const stored = members.one(handle.cluster, key, namespace, name);
    const derived = object === null ? null : this.#incoming(collection, object, version);
    if (derived === null) {
      if (stored === null) return null;
      return { type: 'DELETED', object: { text: stored.text, uid: stored.uid, resourceVersion: version } };
    }
    if (stored === null) return { type: 'ADDED', object: derived };
    if (isSame(stored, derived)) return null;
    return { type: 'MODIFIED', object: derived };
  }
}

/** An object of an abstract kind has no uid of its own; the store needs one, which no API server gives. */
function derivedUid(cluster: string, uid: string): string {
  return memberCluster(cluster, uid);
}

function isSame(stored: MemberObject, derived: IncomingObject): boolean {
  return stored.uid === derived.uid && withoutVersion(stored.text) === withoutVersion(derived.text);
}

function asStored({ text, uid, resourceVersion }: MemberObject): IncomingObject {
  return { text, uid, resourceVersion };
}

/** The text of an object without its resourceVersion: every change of the member has another one. */
function withoutVersion(text: string): string {
  const { metadata, ...rest } = parseExact(text) as { readonly metadata?: Readonly<Record<string, unknown>> };
  const { resourceVersion: _, ...shown } = metadata ?? {};
  return JSON.stringify({ ...rest, metadata: shown });
}
