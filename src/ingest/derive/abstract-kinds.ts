/**
 * Keeps the objects of abstract kinds in step with those of their members.
 *
 *   collection of a member is synced -> all its objects are derived and stored, as a first list
 *   a commit                         -> the log's entries after the position of the collection -> its changed objects are derived again
 *   RESET, or the log was cut        -> all objects again
 *   a change of a related object     -> the objects that lead to it are derived again (related-objects.ts)
 *   a member that is gone, a kind that is not configured any more -> its collection is dropped
 *
 * There is a collection for each member and cluster, and a second one if columns lead to other kinds (memberCluster).
 * `lastResourceVersion` of the collection is its position in the change log. So a restart continues where the process before ended.
 * Invariant: at its position, the collection has the derived object of each object of the member that its conditions let in.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type AbstractKind, memberCluster } from '../../catalog/abstract/abstract-kind.ts';
import { type Derive, deriverOf } from '../../catalog/abstract/derive-object.ts';
import { abstractKey, describeAbstractKind, redactedOfPart } from '../../catalog/abstract/describe-abstract-kind.ts';
import { type Lead, leadsOf } from '../../catalog/abstract/related-columns.ts';
import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import { textOfKind } from '../../catalog/relations/relation.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { IncomingEvent, IncomingObject } from '../../store/types/incoming-object.ts';
import type { MemberChanges, MemberObject, ObjectName } from '../../store/types/member-reads.ts';
import { idleStatus, type ResourceHandle } from '../../store/types/progress.ts';
import type { Writer } from '../../store/types/writer.ts';
import { RelatedObjects, type ServedLead } from './related-objects.ts';
import { isMemberOf, unservedMembers } from './unserved-members.ts';

interface DeriverContext {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Logger;
  /** Are there callers who may not see all objects? */
  readonly isRestricted: boolean;
  /** Every cluster has told what it serves, so a member without a collection is not served. */
  readonly membersKnown: () => boolean;
}

/** The objects of one part of an abstract kind. */
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
  /** The objects to which its columns lead; null if none does. */
  readonly related: RelatedObjects | null;
}

/** Objects that are derived in one piece, and entries of the log that are read at once. */
const atOnce = 200;
const retryMs = 5000;
/** How long a collection waits for the references of its member to be read. */
const referencesMs = 1000;
/** A collection rests as long as it worked for a change of a related object, if that was longer than `least`. */
const rest = { leastMs: 50, mostMs: 5000 } as const;

export class AbstractKinds {
  readonly #context: DeriverContext;
  #kinds: readonly AbstractKind[] = [];
  #collections: readonly Collection[] = [];
  #outdated = true;
  /** There are no abstract kinds, and no collections of earlier ones. */
  #isIdle = false;
  /** The kinds with commits since the last look. */
  readonly #changed = new Set<number>();
  readonly #resting = new Set<Collection>();
  /** The kinds of collections (textOfKind), by the ids of their handles. */
  readonly #named = new Map<number, string>();
  #woken = Promise.withResolvers<void>();
  /** Kinds without a collection, with their members that were logged. */
  #warned = new Map<string, string>();

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
      const keys = [collection.member, ...(collection.related?.kinds ?? []).map(({ key }) => key)];
      if (!all && !keys.some((key) => changed.has(members.kindId(key) ?? 0))) continue;
      while (!stop.aborted && !this.#resting.has(collection) && (await this.#step(collection, stop))) await nextTurn();
    }
  }

  /** The collection is looked at again after this time. */
  #rest(collection: Collection, ms: number, stop: AbortSignal): void {
    const { clock, writer } = this.#context;
    this.#resting.add(collection);
    const end = (): void => {
      this.#resting.delete(collection);
      this.#changed.add(writer.members.kindId(collection.member) ?? 0);
      this.#woken.resolve();
    };
    clock.sleep(ms, stop).then(end, () => {});
  }

  /** Declares the collections that there should be, and drops the others. */
  async #declareAll(): Promise<void> {
    const { writer } = this.#context;
    const handles = writer.members.collections();
    const there = new Set(handles.map(({ id }) => id));
    for (const id of this.#named.keys()) if (!there.has(id)) this.#named.delete(id);
    const known = new Map(
      this.#collections.flatMap((each) => (there.has(each.handle.id) ? [[each.text, each] as const] : [])),
    );
    const wanted: Collection[] = [];
    const unseen = new Map<string, string>();
    for (const kind of this.#kinds) {
      const key = abstractKey(kind);
      let unserved = this.#unservedOf(kind, handles);
      for (const member of kind.members) {
        const clusters = new Map(
          handles.flatMap((handle) => (isMemberOf(kind, member, handle) ? [[handle.cluster, handle]] : [])),
        );
        for (const [cluster, of] of clusters) {
          const { described: origin } = writer.state(of);
          const leads = leadsOf(member, origin);
          const through = new Set(leads.map(({ name }) => name));
          for (const served of this.#partsOf(this.#served(leads, cluster, handles))) {
            const related =
              served.length === 0 ? null : new RelatedObjects(writer.members, cluster, member.resource, served);
            const kinds = related?.kinds ?? [];
            const redacted = redactedOfPart({ member: member.resource, related: kinds }, (key) => {
              const handle = handles.find((each) => each.key === key && each.cluster === cluster);
              return handle === undefined ? [] : writer.state(handle).described.redacted;
            });
            const plain = describeAbstractKind(kind, member, {
              cluster,
              redacted,
              leads: served,
              related: kinds,
              origin,
            });
            const described = withDiagnostics(plain, unserved);
            unserved = [];
            const text = JSON.stringify(described);
            wanted.push(
              known.get(text) ?? {
                text,
                cluster,
                member: member.resource,
                key,
                handle: writer.declare(described),
                derive: deriverOf(kind, member, through),
                related,
              },
            );
          }
        }
      }
      if (unserved.length > 0) unseen.set(kind.name, unserved.join('; '));
    }
    const kept = new Set(wanted.map(({ handle }) => handle.id));
    for (const handle of handles) if (isAbstractKey(handle.key) && !kept.has(handle.id)) await writer.drop(handle);
    this.#warnOf(unseen);
    this.#collections = wanted;
    this.#isIdle = this.#kinds.length === 0;
  }

  /** The message about members without a collection, for the first collection of the kind. The kind of an object has them at the object. */
  #unservedOf(kind: AbstractKind, handles: readonly ResourceHandle[]): readonly string[] {
    return kind.cluster === undefined && this.#context.membersKnown() ? unservedMembers(kind, handles) : [];
  }

  /** Logs the kinds that have no collection, and so no diagnostics: each state once. */
  #warnOf(unseen: ReadonlyMap<string, string>): void {
    for (const [kind, problem] of unseen) {
      if (this.#warned.get(kind) !== problem)
        this.#context.log.warn({ kind, problem }, 'an abstract kind has no objects');
    }
    if (this.#context.membersKnown()) this.#warned = new Map(unseen);
  }

  /** The leads of each part of a member. Callers who may not see all related objects see the part without leads. */
  #partsOf(leads: readonly ServedLead[]): readonly (readonly ServedLead[])[] {
    return leads.length > 0 && this.#context.isRestricted ? [leads, []] : [leads];
  }

  /** The leads to kinds that the cluster serves. */
  #served(leads: readonly Lead[], cluster: string, handles: readonly ResourceHandle[]): readonly ServedLead[] {
    if (leads.length === 0) return [];
    const { writer } = this.#context;
    const kinds = new Map<string, ResourceHandle>();
    for (const handle of handles) {
      if (handle.cluster !== cluster || isAbstractKey(handle.key)) continue;
      const known = this.#named.get(handle.id) ?? textOfKind(writer.state(handle).described.resource);
      this.#named.set(handle.id, known);
      kinds.set(known, handle);
    }
    return leads.flatMap((lead) => {
      const handle = kinds.get(textOfKind(lead.to));
      if (handle === undefined) return [];
      const { namespaced } = writer.state(handle).described.resource;
      return [{ ...lead, key: handle.key, namespaced }];
    });
  }

  /** One bounded step; false if the collection is in step. */
  async #step(collection: Collection, stop: AbortSignal): Promise<boolean> {
    const { writer } = this.#context;
    const { cluster, member, handle, related } = collection;
    if (!writer.members.isSynced(cluster, member)) return false;
    const { lastResourceVersion, synced, outdated } = writer.state(handle);
    const position = Number(lastResourceVersion ?? Number.NaN);
    related?.forget();
    if (!synced || outdated || Number.isNaN(position)) {
      await this.#deriveAll(collection);
      return true;
    }
    const own = writer.members.changes(cluster, member, position, atOnce);
    const others = related?.changes(position, atOnce) ?? [];
    const known = others.filter((each) => each !== null);
    if (own === null || known.length < others.length) {
      await this.#deriveAll(collection);
      return true;
    }
    const upTo = Math.min(own.upTo, ...known.map((each) => each.upTo));
    if (upTo <= position) return false;
    const isFollowed = related === null || known.every(({ names }) => names.length === 0);
    if (!isFollowed && !(await this.#followRelated(collection, related, known, position, stop))) return false;
    const events = this.#eventsOf(collection, own.names);
    // A commit without an event would wake this loop again.
    if (events.length === 0) writer.bookmark(handle, String(upTo));
    else writer.apply(handle, events, String(upTo));
    return true;
  }

  /**
   * Makes the objects anew that lead to changed objects. The position stays: until all are made, a restart begins again.
   * @returns false if it could not be done now
   */
  async #followRelated(
    collection: Collection,
    related: RelatedObjects,
    changes: readonly MemberChanges[],
    position: number,
    stop: AbortSignal,
  ): Promise<boolean> {
    const { clock, writer } = this.#context;
    const { handle, member } = collection;
    if (!writer.members.knowsReferences(member)) {
      this.#rest(collection, referencesMs, stop);
      return false;
    }
    const begun = clock.monotonic();
    for (const names of related.leadingTo(changes)) {
      const events = this.#eventsOf(collection, names);
      if (events.length > 0) writer.apply(handle, events, String(position));
      await nextTurn();
      if (stop.aborted) return false;
      related.forget();
    }
    const ms = clock.monotonic() - begun;
    if (ms >= rest.leastMs) this.#rest(collection, Math.min(ms, rest.mostMs), stop);
    return true;
  }

  async #deriveAll(collection: Collection): Promise<void> {
    const { writer } = this.#context;
    const { cluster, member, key, handle, related } = collection;
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
        related?.forget();
      }
    } catch (error) {
      replace.abort();
      throw error;
    }
    await replace.commit(version);
    this.#noteSign(handle);
  }

  /** The derived object; null for an object that its conditions leave out, and for one that cannot be derived. */
  #incoming(
    { cluster, member, derive, related }: Collection,
    object: MemberObject,
    version: string,
  ): IncomingObject | null {
    const { namespace, name, text, uid, health } = object;
    try {
      const body = parseExact(text);
      const derived = derive({
        cluster,
        body,
        health,
        related: (relation) => related?.bodyOf(relation, body, namespace),
      });
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

  /**
   * The changes of the objects that are derived from these. Their version is the newest sequence number of the log, so that each change of an
   * object has a higher one than the change before.
   */
  #eventsOf(collection: Collection, names: readonly ObjectName[]): readonly IncomingEvent[] {
    const version = String(this.#context.writer.revision());
    return names.flatMap(({ namespace, name }) => this.#eventOf(collection, namespace, name, version) ?? []);
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

function withDiagnostics(described: DescribedResource, messages: readonly string[]): DescribedResource {
  const { cluster, resource, diagnostics } = described;
  const more = messages.map((message) => ({ cluster, resource: resourceKey(resource), message }));
  return { ...described, diagnostics: [...diagnostics, ...more] };
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
