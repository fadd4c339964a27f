/**
 * The reflectors of one cluster with what they were declared as.
 *
 * Invariant: a resource has at most one reflector; another takes over only when the former has ended. A resource whose bodies may
 * mean something else now (schema, version, scope, withheld paths) is listed anew, one whose texts alone changed goes on.
 */
import type { Clock, Random } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { DescribedResource } from '../catalog/catalog.ts';
import { resourceKey } from '../catalog/resource.ts';
import type { ResourceHandle, Writer } from '../store/types.ts';
import { Gate } from './gate.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorSettings, SeenObject, StreamingClient } from './reflector-context.ts';
import { RequestBudget } from './request-budget.ts';
import type { KnownVersion } from './rewind-guard.ts';
import { StreamingLists } from './streaming-lists.ts';

/** Lists, and watches being opened, that run at a time in a cluster. */
const listsAtOnce = 4;
const openingsAtOnce = 16;

export interface ReflectorSetContext {
  readonly client: StreamingClient;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: ReflectorSettings;
  readonly changed: () => void;
  readonly missing: () => void;
  /** Who wants to see the objects of this resource pass, if anybody. */
  readonly seen: (key: string) => ((objects: readonly SeenObject[]) => void) | undefined;
}

export interface SetProgress {
  readonly done: number;
  readonly total: number;
  readonly objects: number;
  readonly failing: readonly { readonly resource: string; readonly error: string }[];
}

interface Running {
  readonly described: DescribedResource;
  readonly handle: ResourceHandle;
  readonly reflector: Reflector;
}

export class ReflectorSet {
  readonly #context: ReflectorSetContext;
  readonly #running = new Map<string, Running>();
  readonly #lists = new Gate(listsAtOnce);
  readonly #openings = new Gate(openingsAtOnce);
  readonly #budget: RequestBudget;
  readonly #streaming: StreamingLists;
  #stopped = false;

  constructor(context: ReflectorSetContext) {
    this.#context = context;
    this.#budget = new RequestBudget(context.clock, context.settings.requests);
    this.#streaming = new StreamingLists(context.clock, context.settings.streamingLists);
  }

  get size(): number {
    return this.#running.size;
  }

  /** True when something waits for rights, or for a collection to come back. */
  get parked(): boolean {
    return [...this.#running.values()].some(({ reflector }) => reflector.phase === 'PARKED');
  }

  keys(): readonly string[] {
    return [...this.#running.keys()];
  }

  described(key: string): DescribedResource | undefined {
    return this.#running.get(key)?.described;
  }

  /** Declares a resource and starts its reflector. A store that refuses it costs this resource alone. */
  declare(described: DescribedResource, how: 'resume' | 'list'): void {
    const { log, seen, missing, changed, ...rest } = this.#context;
    const key = resourceKey(described.resource);
    if (this.#stopped) return;
    try {
      const handle = rest.writer.declare(described);
      const watcher = seen(key);
      const reflector = new Reflector({
        ...rest,
        resource: described.resource,
        handle,
        log: log.child({ resource: key }),
        lists: this.#lists,
        openings: this.#openings,
        budget: this.#budget,
        streaming: this.#streaming,
        resume: how === 'resume',
        changed,
        missing,
        ...(watcher === undefined ? {} : { seen: watcher }),
      });
      this.#running.set(key, { described, handle, reflector });
      reflector.start();
    } catch (error) {
      log.error({ resource: key, error: messageOf(error) }, 'a resource could not be declared in the store');
    }
  }

  /** Takes a description: new resources start, those that may mean something else are listed anew, others are only declared. */
  async take(described: DescribedResource, recreated: boolean): Promise<void> {
    const key = resourceKey(described.resource);
    const current = this.#running.get(key);
    if (current === undefined) {
      this.declare(described, 'resume');
    } else if (recreated || meaningOf(current.described) !== meaningOf(described)) {
      await this.#end(key, current);
      this.declare(described, 'list');
    } else if (JSON.stringify(current.described) !== JSON.stringify(described)) {
      this.#context.writer.declare(described);
      this.#running.set(key, { ...current, described });
    }
  }

  /** Ends a resource and drops what is stored of it. */
  async remove(key: string): Promise<void> {
    const current = this.#running.get(key);
    if (current === undefined) return;
    await this.#end(key, current);
    this.discard(current.handle);
  }

  /** Drops what is stored of a resource that nobody reflects, in the background. */
  discard(handle: ResourceHandle): void {
    const { log, writer } = this.#context;
    writer.drop(handle).catch((error: unknown) => {
      if (!this.#stopped) log.warn({ resource: handle.key, error: messageOf(error) }, 'a resource was not dropped');
    });
  }

  /** Lets what is parked try again at once. */
  probe(): void {
    for (const { reflector } of this.#running.values()) reflector.probe();
  }

  /** How far each resource has come that has a version; without those that are to be listed for having gone back. */
  versions(): readonly KnownVersion[] {
    return [...this.#running.values()]
      .filter(({ reflector }) => !reflector.rewinding)
      .map(({ described, reflector }) => ({
        resource: described.resource,
        resourceVersion: reflector.resourceVersion,
      }))
      .filter(({ resourceVersion }) => resourceVersion !== '');
  }

  /** Lists everything anew: what is known is of a future that the server has not. */
  rewind(): void {
    for (const { reflector } of this.#running.values()) reflector.rewind();
  }

  retain(key: string, bound: { readonly maxObjects: number; readonly maxAgeMs: number }): void {
    const current = this.#running.get(key);
    if (current === undefined || !current.reflector.synced) return;
    const { log, writer } = this.#context;
    try {
      const removed = writer.retain(current.handle, bound);
      if (removed > 0) log.debug({ resource: key, removed }, 'old objects were removed');
    } catch (error) {
      log.warn({ resource: key, error: messageOf(error) }, 'old objects were not removed');
    }
  }

  progress(): SetProgress {
    let [done, objects] = [0, 0];
    const failing: { resource: string; error: string }[] = [];
    for (const [resource, { handle, reflector }] of this.#running) {
      if (reflector.synced || reflector.failing) done += 1;
      if (reflector.failing) failing.push({ resource, error: reflector.error ?? '' });
      objects += this.#objects(handle);
    }
    return { done, total: this.#running.size, objects, failing };
  }

  /** None of a resource that the store does not know (any more): it is about to go from here too. */
  #objects(handle: ResourceHandle): number {
    try {
      return this.#context.writer.state(handle).objects;
    } catch {
      return 0;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#running].map(([key, running]) => this.#end(key, running)));
  }

  async #end(key: string, running: Running): Promise<void> {
    await running.reflector.stop();
    this.#running.delete(key);
  }
}

/** What bodies, and the requests for them, depend on. */
function meaningOf({ resource, shapeHash, withheld }: DescribedResource): string {
  const { version, kind, namespaced, verbs } = resource;
  return JSON.stringify([shapeHash, version, kind, namespaced, verbs.includes('watch'), [...withheld].sort()]);
}
