/** Applies the messages of a followed log, one kind of message after the other. Types and order: src/store/types/followed-log.ts. */
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type {
  CollectionName,
  FollowedBegin,
  FollowedChange,
  FollowedCluster,
  FollowedLog,
  FollowedPage,
  FollowedReset,
  FollowedResource,
  FollowedStatus,
  FollowerPosition,
  LogMessage,
  ResetReason,
} from '../types/followed-log.ts';
import type { Declarations } from './declarations.ts';
import { doesNotFit, FollowedChanges, isChange, noCollection } from './followed-changes.ts';
import { type Fill, FollowedFills } from './followed-fills.ts';
import type { PendingProgress } from './pending-progress.ts';

interface Parts {
  readonly declarations: Declarations;
  readonly progress: PendingProgress;
}

export class FollowedMessages implements FollowedLog {
  readonly #context: WriteContext;
  readonly #parts: Parts;
  readonly #fills: FollowedFills;
  readonly #changes: FollowedChanges;

  constructor(context: WriteContext, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
    this.#fills = new FollowedFills(context);
    this.#changes = new FollowedChanges(context, this.#fills);
  }

  position(): FollowerPosition {
    const { resources, session } = this.#context;
    return {
      revision: session.counters.revision,
      collections: resources
        .all()
        .map(({ handle: { cluster, key, namespace } }) => ({ cluster, key, collection: namespace })),
      clusters: session.database
        .statement('SELECT name FROM cluster ORDER BY name')
        .all()
        .map(([name]) => String(name)),
      filling: this.#fills.running(),
    };
  }

  take(messages: readonly LogMessage[]): number {
    const { follows, session } = this.#context;
    if (!follows)
      throw new PortolanError('CONFLICT', 'This store has reflectors; it cannot follow the log of another one.');
    for (let next = 0; next < messages.length; ) {
      const message = must(messages[next], 'a message');
      if (isChange(message)) {
        next = this.#changes.commitSome(messages, next);
      } else {
        this.#takeOne(message);
        next += 1;
      }
    }
    return session.counters.revision;
  }

  #takeOne(message: Exclude<LogMessage, FollowedChange>): void {
    if (message.type === 'RESET') this.#reset(message);
    else if (message.type === 'PAGE') this.#page(message);
    else if (message.type === 'BEGIN') this.#begin(message);
    else if (message.type === 'RESOURCE') this.#resource(message);
    else if (message.type === 'GONE') this.#keep(message.cluster, message.key, []);
    else if (message.type === 'CLUSTER') this.#cluster(message);
    else this.#status(message);
  }

  #begin({ revision, collections }: FollowedBegin): void {
    const { session } = this.#context;
    if (session.counters.revision > 0)
      throw new PortolanError('CONFLICT', 'A log that begins anew needs an empty store. Remove the file of the store.');
    session.run(() => {
      for (const name of collections) {
        const resource = this.#collection(name);
        if (resource === undefined) throw noCollection(name);
        this.#fills.begin(name, resource);
      }
      session.nextSequence(0, revision);
    });
  }

  #reset(reset: FollowedReset): void {
    if (!this.#isNext(reset, reset)) return;
    const { resources, session } = this.#context;
    const resource = this.#collection(reset);
    resources.change(() => {
      if (reset.reason === 'published') {
        if (resource === undefined) throw doesNotFit(reset, 'the store does not know its collection');
        this.#fills.begin(reset, resource);
        session.nextSequence(resource.kind.id, reset.seq);
        return;
      }
      if (reset.reason === 'unpublished') {
        this.#fills.drop(reset);
        if (resource?.synced) resources.unpublish(resource);
      }
      this.#logReset(reset, reset, reset.reason);
    });
  }

  #page(page: FollowedPage): void {
    const { last } = page;
    const { session } = this.#context;
    const fill = this.#fills.of(page);
    if (fill !== undefined) {
      const published = session.run(() => this.#fillPage(fill, page));
      published();
    } else if (last !== null && this.#isNext(last, { ...page, type: 'RESET' })) {
      session.run(() => this.#logReset(page, last));
    }
  }

  /** Inside a transaction. Returns a function to call after the commit. */
  #fillPage(fill: Fill, { objects, last, ...page }: FollowedPage): () => void {
    const resource = must(this.#collection(page), 'the collection of a fill');
    this.#changes.fill(resource, objects);
    const final = objects.at(-1);
    const reached = final === undefined ? fill : { ...fill, upTo: { namespace: final.namespace, name: final.name } };
    if (last === null) {
      this.#fills.reach(reached);
      return () => {};
    }
    if (!this.#isNext(last, { ...page, type: 'RESET' }))
      throw doesNotFit({ ...page, ...last, type: 'RESET' }, 'it is no new one');
    const published = this.#fills.publish(fill, resource, last.resourceVersion);
    this.#logReset(page, last);
    return published;
  }

  #resource({ described, namespaces }: FollowedResource): void {
    const { cluster, resource } = described;
    const { declarations } = this.#parts;
    for (const namespace of namespaces) declarations.declare(described, namespace);
    this.#keep(cluster, resourceKey(resource), namespaces);
  }

  /** Removes the other collections of a resource. Housekeeping removes their rows. */
  #keep(cluster: string, key: string, namespaces: readonly string[]): void {
    const { resources, session } = this.#context;
    for (const { handle } of resources.all()) {
      if (handle.cluster !== cluster || handle.key !== key || namespaces.includes(handle.namespace)) continue;
      session.run(() => this.#fills.drop({ cluster, key, collection: handle.namespace }));
      this.#parts.declarations.remove(handle);
    }
  }

  #cluster(cluster: FollowedCluster): void {
    const { declarations } = this.#parts;
    if (cluster.gone) declarations.removeCluster(cluster.name);
    else declarations.noteCluster(cluster);
  }

  #status({ status, resourceVersion, ...name }: FollowedStatus): void {
    const { progress } = this.#parts;
    const resource = this.#collection(name);
    if (resource === undefined) return;
    // During a fill, the published objects are those before it.
    if (resourceVersion !== null && this.#fills.of(name) === undefined) progress.reached(resource, resourceVersion);
    progress.setStatus(resource, status);
  }

  /** False for an entry that the store has. Throws CONFLICT if an entry is missing before it. */
  #isNext(
    { seq, after }: { readonly seq: number; readonly after: number },
    entry: { readonly type: string; readonly cluster: string; readonly key: string },
  ): boolean {
    const { revision } = this.#context.session.counters;
    if (seq <= revision) return false;
    if (after !== revision) throw doesNotFit({ ...entry, seq }, `the store is at revision ${revision}`);
    return true;
  }

  /** Inside a transaction. A kind keeps its row when its collections are gone. */
  #logReset(
    { cluster, key, collection }: CollectionName,
    { seq, at, resourceVersion }: Omit<FollowedReset, keyof CollectionName | 'type' | 'after' | 'reason'>,
    reason: ResetReason = 'published',
  ): void {
    const { log, resources, session } = this.#context;
    const kind = resources.kind(key);
    if (kind === undefined) session.nextSequence(0, seq);
    else log.reset(kind.id, { cluster, collection, reason, resourceVersion }, { seq, at });
  }

  #collection({ cluster, key, collection }: CollectionName): StoredResource | undefined {
    return this.#context.resources.named({ cluster, key, namespace: collection });
  }
}
