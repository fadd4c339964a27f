/**
 * Keeps the declared abstract kinds in step with the objects of the kind AbstractKind in the store, and with the file.
 *
 *   a commit of these objects, or a changed catalog -> settleMs pass -> the oldest objects of each cluster are read
 *   what they say -> admitObjects -> the declared kinds, and a diagnostic for each problem of an object
 *
 * The result changes at most once in everyMs. So a stream of edits does not make the schema again and again.
 * The store keeps the objects of a cluster that is away, also over a restart: its abstract kinds stay.
 * Invariant: with no clusters named, the kinds of the file are declared at once, and nothing is read.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { namePattern } from '../../base/text/name-pattern.ts';
import {
  type AbstractKind,
  abstractKindObjectsKey,
  ofKindObjects as prefix,
} from '../../catalog/abstract/abstract-kind.ts';
import {
  admitObjects,
  type KindObject,
  type ObjectProblem,
  readKindObject,
} from '../../catalog/abstract/admit-objects.ts';
import type { ReadAbstractKinds } from '../../catalog/abstract/read-abstract-kinds.ts';
import type { DescribedResource, Diagnostic } from '../../catalog/resources/catalog.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import type { ResourceHandle } from '../../store/types/progress.ts';
import type { Writer } from '../../store/types/writer.ts';
import { unservedMembers } from './unserved-members.ts';

interface KindObjectsContext {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Logger;
  /** Names of clusters whose objects are used, with `*` for any text; empty: none. */
  readonly clusters: readonly string[];
  /** Every cluster has told what it serves. */
  readonly membersKnown: () => boolean;
  /** Called with the kinds when they have changed. */
  readonly declare: (kinds: readonly AbstractKind[]) => void;
  /** Milliseconds between a change and the look at it, and between two changes of the result. */
  readonly settleMs?: number;
  readonly everyMs?: number;
}

const key = abstractKindObjectsKey;
/** Objects of one cluster that are read. */
const mostObjects = 100;
/** Diagnostics of one object, of one cluster, and characters of one. */
const most = { perObject: 5, perCluster: 50, text: 400 } as const;
const retryMs = 5000;

export class KindObjects {
  readonly #context: KindObjectsContext;
  readonly #patterns: readonly RegExp[];
  readonly #settleMs: number;
  readonly #everyMs: number;
  #ofFile: readonly AbstractKind[] = [];
  #declared = '';
  #declaredAt = Number.NEGATIVE_INFINITY;
  /** The declarations of each object, by its uid and version. */
  #read = new Map<string, ReadAbstractKinds>();
  /** Diagnostics by cluster. */
  #messages: ReadonlyMap<string, readonly string[]> = new Map();
  #woken = Promise.withResolvers<void>();

  constructor(context: KindObjectsContext) {
    this.#context = context;
    this.#patterns = context.clusters.map((name) => namePattern(name));
    this.#settleMs = context.settleMs ?? 500;
    this.#everyMs = context.everyMs ?? 5000;
  }

  get #isOff(): boolean {
    return this.#patterns.length === 0;
  }

  /** Uses these kinds of the file from now on. */
  declareFile(kinds: readonly AbstractKind[]): void {
    this.#ofFile = kinds;
    if (this.#isOff) this.#declare(kinds);
    else this.#woken.resolve();
  }

  /**
   * Call after each commit, and when the members are known. Until then the kinds of clusters are still coming, and an object must not get
   * their names first. @param catalogChanged collections may have come or gone
   */
  wake(kindIds: readonly number[], catalogChanged: boolean): void {
    if (this.#isOff || !this.#context.membersKnown()) return;
    const id = this.#context.writer.members.kindId(key);
    if (catalogChanged || (id !== null && kindIds.includes(id))) this.#woken.resolve();
  }

  /** The description with the diagnostics of the objects. It is what the resource must be declared with. */
  diagnosed(described: DescribedResource): DescribedResource {
    if (resourceKey(described.resource) !== key) return described;
    const { cluster, diagnostics } = described;
    const own = diagnostics.filter(({ message }) => !message.startsWith(prefix));
    const ofObjects = (this.#messages.get(cluster) ?? []).map(
      (message): Diagnostic => ({ cluster, resource: key, message }),
    );
    return { ...described, diagnostics: [...own, ...ofObjects] };
  }

  /** Declares what the file and the store say now. Later calls of `run` follow changes. Never rejects. */
  async begin(): Promise<void> {
    if (this.#isOff) return;
    this.#woken = Promise.withResolvers();
    try {
      await this.#look();
    } catch (error) {
      this.#report(error);
      this.#woken.resolve();
    }
  }

  /** Runs until the signal. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    stop.addEventListener('abort', () => this.#woken.resolve(), { once: true });
    while (!stop.aborted) {
      try {
        await this.#woken.promise;
        await clock.sleep(this.#delay(), stop);
        this.#woken = Promise.withResolvers();
        if (!stop.aborted) await this.#look();
      } catch (error) {
        if (stop.aborted) return;
        this.#report(error);
        this.#woken.resolve();
        await clock.sleep(retryMs, stop).catch(() => {});
      }
    }
  }

  #delay(): number {
    return Math.max(this.#settleMs, this.#declaredAt + this.#everyMs - this.#context.clock.monotonic());
  }

  #report(error: unknown): void {
    this.#context.log.error(
      { error: messageOf(error) },
      'the AbstractKind objects could not be read; it is tried again',
    );
  }

  async #look(): Promise<void> {
    const { members } = this.#context.writer;
    const clusters = members.collections().flatMap((handle) => (handle.key === key ? [handle.cluster] : []));
    const objects: KindObject[] = [];
    const messages = new Map<string, string[]>();
    for (const cluster of [...new Set(clusters)].sort()) {
      const found = messages.set(cluster, []).get(cluster) ?? [];
      const names = members.oldest(cluster, key, mostObjects + 1);
      if (names.length === 0) continue;
      if (!this.#patterns.some((pattern) => pattern.test(cluster))) {
        found.push(`${prefix}objects of the cluster ${cluster} are not used: --abstract-kind-objects does not name it`);
        continue;
      }
      if (names.length > mostObjects)
        found.push(`${prefix}objects after the ${mostObjects} oldest of the cluster ${cluster} are left out`);
      for (const { namespace, name, created } of names.slice(0, mostObjects)) {
        const read = this.#readOne(cluster, namespace, name);
        if (read !== null) objects.push({ cluster, name, created, read });
        await nextTurn();
      }
    }
    const known = new Set(objects.map(({ read }) => read));
    for (const [id, read] of this.#read) if (!known.has(read)) this.#read.delete(id);
    const { admitted, problems } = admitObjects(this.#ofFile, objects);
    const perObject = Map.groupBy(
      [...problems, ...this.#unserved(admitted)],
      ({ cluster, name }) => `${cluster} ${name}`,
    );
    for (const ofOne of perObject.values()) {
      for (const { cluster, name, message } of ofOne.slice(0, most.perObject))
        messages.get(cluster)?.push(shortened(`${prefix}${name}: ${message}`));
    }
    for (const [cluster, ofCluster] of messages) messages.set(cluster, ofCluster.slice(0, most.perCluster));
    this.#messages = messages;
    this.#declare(admitted.map(({ kind }) => kind));
    for (const handle of members.collections()) if (handle.key === key) this.#diagnose(handle);
  }

  /** Null for an object that is gone meanwhile. */
  #readOne(cluster: string, namespace: string, name: string): ReadAbstractKinds | null {
    const object = this.#context.writer.members.one(cluster, key, namespace, name);
    if (object === null) return null;
    const id = JSON.stringify([cluster, object.uid, object.resourceVersion]);
    const read = this.#read.get(id) ?? readKindObject(object.text);
    this.#read.set(id, read);
    return read;
  }

  #unserved(admitted: ReturnType<typeof admitObjects>['admitted']): readonly ObjectProblem[] {
    if (!this.#context.membersKnown()) return [];
    const handles = this.#context.writer.members.collections();
    return admitted.flatMap(({ kind, object }) => {
      if (object === null) return [];
      const { cluster, name } = object;
      return unservedMembers(kind, handles).map((message) => ({ cluster, name, message }));
    });
  }

  #declare(kinds: readonly AbstractKind[]): void {
    const text = JSON.stringify(kinds);
    if (text === this.#declared) return;
    this.#declared = text;
    this.#declaredAt = this.#context.clock.monotonic();
    this.#context.declare(kinds);
  }

  #diagnose(handle: ResourceHandle): void {
    const { writer } = this.#context;
    const { described } = writer.state(handle);
    const diagnosed = this.diagnosed(described);
    const isSame = JSON.stringify(described.diagnostics) === JSON.stringify(diagnosed.diagnostics);
    if (!isSame) writer.declare(diagnosed, handle.namespace);
  }
}

function shortened(text: string): string {
  return text.length > most.text ? `${text.slice(0, most.text)}…` : text;
}
