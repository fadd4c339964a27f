/**
 * The reflectors of one cluster, with the declarations of their resources.
 *
 * A resource is ingested as one collection. If namespaces are selected and the resource is namespaced, each namespace is
 * its own collection. Each collection has its own reflector, version and state; their failures are independent.
 *
 * Invariant: a collection has at most one reflector; another starts only after the former has ended.
 *
 * A change of a resource's schema, version, kind, scope or redacted paths may change its stored bodies. So the resource is listed
 * again. After any other change (of descriptions, for example) its reflectors continue.
 */
import type { Clock, Random } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { type Resource, resourceKey } from '../../catalog/resources/resource.ts';
import type { ResourceHandle } from '../../store/types/progress.ts';
import type { Writer } from '../../store/types/writer.ts';
import { collectionName, collectionsOf } from '../context/collections.ts';
import type { FailingResource } from '../context/progress.ts';
import type { ReflectorSettings, SeenObject, StreamingClient } from '../context/reflector-context.ts';
import { StreamingLists } from '../context/streaming-lists.ts';
import { RequestBudget } from '../flow/request-budget.ts';
import { RetryPace } from '../flow/retry-pace.ts';
import { Slots } from '../flow/slots.ts';
import type { ParseThread } from '../parse/parse-thread.ts';
import { Auditor } from './auditor.ts';
import { InterruptionLog } from './interruption-log.ts';
import { Reflector } from './reflector.ts';
import { retainShared } from './shared-bound.ts';

/** Maximum concurrent lists, and maximum watches that open at the same time, in a cluster. Silent ones do not count (slots.ts). */
const listsAtOnce = 4;
const openingsAtOnce = 16;

interface ReflectorSetContext {
  readonly client: StreamingClient;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: ReflectorSettings;
  /** Namespaced resources are read in these alone; empty: in all at once. */
  readonly namespaces: readonly string[];
  readonly parser?: ParseThread | undefined;
  readonly changed: () => void;
  readonly missing: () => void;
  /** The observer of this resource's stored objects, if any. */
  readonly seen: (key: string) => ((objects: readonly SeenObject[]) => void) | undefined;
}

interface SetProgress {
  readonly done: number;
  readonly synced: number;
  readonly total: number;
  readonly objects: number;
  readonly failing: readonly Omit<FailingResource, 'cluster'>[];
}

interface Collection {
  readonly handle: ResourceHandle;
  readonly reflector: Reflector;
}

interface Running {
  readonly described: DescribedResource;
  readonly collections: readonly Collection[];
}

export class ReflectorSet {
  readonly #context: ReflectorSetContext;
  /** By resourceKey. */
  readonly #running = new Map<string, Running>();
  readonly #lists: Slots;
  readonly #openings: Slots;
  readonly #pace = new RetryPace(() => this.#collections().length);
  readonly #budget: RequestBudget;
  readonly #streaming: StreamingLists;
  readonly #auditor: Auditor | null;
  readonly #interruptions: InterruptionLog;
  readonly #bookmarks = { seen: false };
  #stopped = false;

  constructor(context: ReflectorSetContext) {
    this.#context = context;
    this.#lists = new Slots(context.clock, listsAtOnce);
    this.#openings = new Slots(context.clock, openingsAtOnce);
    this.#budget = new RequestBudget(context.clock, context.settings.requests);
    this.#streaming = new StreamingLists(context.clock, context.settings);
    const { clock, log, random, settings } = context;
    this.#interruptions = new InterruptionLog(clock, log);
    const audits = () => this.#audits();
    this.#auditor =
      settings.auditMs === 0 ? null : new Auditor({ clock, random, intervalMs: settings.auditMs, audits });
  }

  get size(): number {
    return this.#running.size;
  }

  /** True if a reflector waits for access rights, or for a collection to exist again. */
  get parked(): boolean {
    return this.#collections().some(({ reflector }) => reflector.phase === 'PARKED');
  }

  /** True if at least half of the resources are interrupted and were reported so. */
  get outageReported(): boolean {
    return this.size > 0 && this.#interruptions.warned >= this.size / 2;
  }

  keys(): readonly string[] {
    return [...this.#running.keys()];
  }

  described(key: string): DescribedResource | undefined {
    return this.#running.get(key)?.described;
  }

  /** The namespaces of its collections; the empty string stands for all. */
  namespacesOf({ namespaced }: Resource): readonly string[] {
    return collectionsOf({ namespaced }, this.#context.namespaces);
  }

  /** Declares a resource and starts its reflectors. A collection that the store refuses does not affect the others. */
  declare(described: DescribedResource, how: 'resume' | 'list'): void {
    const { log } = this.#context;
    const key = resourceKey(described.resource);
    if (this.#stopped) return;
    const collections: Collection[] = [];
    for (const namespace of this.namespacesOf(described.resource)) {
      try {
        const handle = this.#context.writer.declare(described, namespace);
        collections.push({ handle, reflector: this.#reflectorOf(described.resource, handle, how) });
      } catch (error) {
        log.error(
          { resource: key, namespace, error: messageOf(error) },
          'a resource could not be declared in the store',
        );
      }
    }
    if (collections.length === 0) return;
    this.#running.set(key, { described, collections });
    for (const { reflector } of collections) reflector.start();
  }

  #reflectorOf(resource: Resource, handle: ResourceHandle, how: 'resume' | 'list'): Reflector {
    const { log, seen, missing, changed, namespaces: _, ...rest } = this.#context;
    const observer = seen(handle.key);
    const { key, namespace } = handle;
    return new Reflector({
      ...rest,
      resource,
      handle,
      log: log.child(namespace === '' ? { resource: key } : { resource: key, namespace }),
      lists: this.#lists,
      openings: this.#openings,
      budget: this.#budget,
      pace: this.#pace,
      streaming: this.#streaming,
      interruptions: this.#interruptions,
      bookmarks: this.#bookmarks,
      resume: how === 'resume',
      changed,
      missing,
      ...(observer === undefined ? {} : { seen: observer }),
    });
  }

  /** Applies a description: starts new resources, lists those whose bodies may have changed, and only declares the others. */
  async take(described: DescribedResource, recreated: boolean): Promise<void> {
    const key = resourceKey(described.resource);
    const current = this.#running.get(key);
    if (current === undefined) {
      this.declare(described, 'resume');
    } else if (recreated || meaningOf(current.described) !== meaningOf(described)) {
      await this.#end(key, current);
      const namespaces = this.namespacesOf(described.resource);
      this.declare(described, 'list');
      for (const { handle } of current.collections) if (!namespaces.includes(handle.namespace)) this.discard(handle);
    } else if (JSON.stringify(current.described) !== JSON.stringify(described)) {
      for (const { handle } of current.collections) this.#context.writer.declare(described, handle.namespace);
      this.#running.set(key, { ...current, described });
    }
  }

  /** Stops a resource and drops its stored rows. */
  async remove(key: string): Promise<void> {
    const current = this.#running.get(key);
    if (current === undefined) return;
    await this.#end(key, current);
    for (const { handle } of current.collections) this.discard(handle);
  }

  /** Drops the stored rows of a resource without reflectors, in the background. */
  discard(handle: ResourceHandle): void {
    const { log, writer } = this.#context;
    writer.drop(handle).catch((error: unknown) => {
      if (!this.#stopped) log.warn({ resource: handle.key, error: messageOf(error) }, 'a resource was not dropped');
    });
  }

  /** Lets parked reflectors try again at once. */
  probe(): void {
    for (const { reflector } of this.#collections()) reflector.probe();
  }

  /** The version of each collection that has one, except collections that are due for a list after a rewind. */
  versions(): readonly KnownVersion[] {
    return [...this.#running.values()].flatMap(({ described: { resource }, collections }) =>
      collections
        .filter(({ reflector }) => !reflector.rewinding && reflector.resourceVersion !== '')
        .map(({ handle: { namespace }, reflector: { resourceVersion } }) => ({ resource, namespace, resourceVersion })),
    );
  }

  /** Lists everything again, because the known versions are newer than the server's. */
  rewind(): void {
    for (const { reflector } of this.#collections()) reflector.rewind();
  }

  /** Limits the stored objects of a resource. */
  retain(key: string, bound: { readonly maxObjects: number; readonly maxAgeMs: number }): void {
    const synced = (this.#running.get(key)?.collections ?? []).filter(({ reflector }) => reflector.synced);
    const collections = synced.map(({ handle }) => ({ handle, objects: this.#objects(handle) }));
    retainShared(this.#context, collections, bound);
  }

  progress(): SetProgress {
    let [done, synced, objects] = [0, 0, 0];
    const failing: Omit<FailingResource, 'cluster'>[] = [];
    for (const [resource, { collections }] of this.#running) {
      if (collections.every(({ reflector }) => reflector.synced || reflector.failing)) done += 1;
      const failed = collections.filter(({ reflector }) => reflector.failing);
      if (failed.length > 0) failing.push(failureOf(resource, failed));
      else if (collections.every(({ reflector }) => reflector.synced)) synced += 1;
      for (const { handle } of collections) objects += this.#objects(handle);
    }
    return { done, synced, total: this.#running.size, objects, failing };
  }

  /** Events are excluded: their bound removes rows, so their table never equals the server's set. */
  #audits(): readonly ((stop: AbortSignal) => Promise<void>)[] {
    return this.#collections()
      .filter(({ handle, reflector }) => handle.key !== 'events' && reflector.phase === 'WATCHING')
      .map(
        ({ reflector }) =>
          (stop) =>
            reflector.audit(stop),
      );
  }

  #collections(): readonly Collection[] {
    return [...this.#running.values()].flatMap(({ collections }) => collections);
  }

  /** The number of stored objects; 0 for a collection that the store has dropped, whose reflector is about to stop too. */
  #objects(handle: ResourceHandle): number {
    try {
      return this.#context.writer.state(handle).objects;
    } catch {
      return 0;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#auditor?.stop();
    await Promise.all([...this.#running].map(([key, running]) => this.#end(key, running)));
    this.#interruptions.close();
  }

  async #end(key: string, running: Running): Promise<void> {
    await Promise.all(running.collections.map(({ reflector }) => reflector.stop()));
    this.#running.delete(key);
    if (!this.#stopped)
      for (const { handle } of running.collections) this.#interruptions.forget(collectionName(handle));
  }
}

/** A resource that fails in one or several of its collections. */
function failureOf(resource: string, failed: readonly Collection[]): Omit<FailingResource, 'cluster'> {
  const namespaces = failed.map(({ handle }) => handle.namespace).filter((namespace) => namespace !== '');
  const errors = [...new Set(failed.map(({ reflector }) => reflector.error ?? ''))];
  const [first] = failed.map(({ reflector }) => reflector.refusal);
  const refused = first != null && failed.every(({ reflector }) => reflector.refusal !== null);
  const phases = failed.map(({ reflector }) => reflector.phase);
  const phase = phases.find((each) => each === 'PARKED') ?? phases[0];
  return {
    resource,
    ...(phase === undefined ? {} : { phase }),
    error: errors.join('; '),
    ...(refused ? { refusal: first } : {}),
    ...(namespaces.length === 0 ? {} : { namespaces }),
  };
}

/** The parts of a declaration that bodies and their requests depend on. */
function meaningOf({ resource, shapeHash, redacted }: DescribedResource): string {
  const { version, kind, namespaced, verbs } = resource;
  return JSON.stringify([shapeHash, version, kind, namespaced, verbs.includes('watch'), [...redacted].sort()]);
}

/** The version that the reflector of a collection has reached. */
export interface KnownVersion {
  readonly resource: Resource;
  /** Empty: over all namespaces of the resource. */
  readonly namespace: string;
  readonly resourceVersion: string;
}
