/**
 * Shared by controllers and the demo world: access to objects by kind, random numbers, and Events.
 *
 * All writes go through the same API as those of clients. They are trusted (not validated again) and carry a field manager, so
 * managedFields look as in a real cluster.
 */

import type { Clock, Random } from '../../src/base/clock.ts';
import { must } from '../../src/base/must.ts';
import type { ObjectApi } from '../api/object-api.ts';
import { asArray, asObject, asString, at, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { microTimeText, randomSuffix, timeText } from '../resources/object-metadata.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import { apiVersionOf, metadataOf, type ServedResource } from '../resources/served-resource.ts';

const maxEvents = 2000;
/** Events are removed at this age, as API servers do. */
const eventsMs = 3_600_000;

export class World {
  readonly api: ObjectApi;
  readonly registry: ResourceRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly #events: { readonly namespace: string; readonly name: string; readonly emitted: number }[] = [];

  constructor(api: ObjectApi, registry: ResourceRegistry, clock: Clock, random: Random) {
    this.api = api;
    this.registry = registry;
    this.clock = clock;
    this.random = random;
  }

  /** A resource by group and plural; must be served. */
  resource(group: string, plural: string): ServedResource {
    return must(this.registry.findPlural(group, plural), `the resource ${plural}.${group}`);
  }

  get(storage: string, namespace: string, name: string): Stored | undefined {
    return this.api.store.get(storage, namespace, name);
  }

  list(storage: string, namespace?: string): Stored[] {
    return this.api.store.list(storage, namespace);
  }

  /** Creates an object; `manager` appears in managedFields. */
  create(group: string, plural: string, object: JsonObject, manager: string): Stored {
    const resource = this.resource(group, plural);
    const namespace = resource.namespaced ? asString(at(object, 'metadata', 'namespace')) : '';
    return this.api.create(resource, namespace, object, { trusted: true, fieldManager: manager });
  }

  /** Replaces the status, unless it is equal. Undefined when the object no longer exists. */
  setStatus(stored: Stored, status: JsonObject, manager: string): Stored | undefined {
    const current = this.get(stored.storage, stored.namespace, stored.name);
    if (!current || equalJson(current.object.status, status)) return current;
    return this.#update(current, { ...current.object, status }, manager, 'status');
  }

  /** Merges fields into the spec. */
  patchSpec(stored: Stored, spec: JsonObject, manager: string): Stored | undefined {
    const current = this.get(stored.storage, stored.namespace, stored.name);
    if (!current) return undefined;
    return this.#update(
      current,
      { ...current.object, spec: { ...asObject(current.object.spec), ...spec } },
      manager,
      '',
    );
  }

  /** Adds annotations, unless the object has them. */
  annotate(stored: Stored, annotations: JsonObject, manager: string): Stored | undefined {
    const current = this.get(stored.storage, stored.namespace, stored.name);
    if (!current) return undefined;
    const metadata = metadataOf(current.object);
    const known = asObject(metadata.annotations);
    if (Object.entries(annotations).every(([key, value]) => known[key] === value)) return current;
    const content = { ...current.object, metadata: { ...metadata, annotations: { ...known, ...annotations } } };
    return this.#update(current, content, manager, '');
  }

  /** Replaces everything but apiVersion, kind and metadata, unless it is equal: for kinds without spec and status. */
  replace(stored: Stored, content: JsonObject, manager: string): Stored | undefined {
    const current = this.get(stored.storage, stored.namespace, stored.name);
    if (!current) return undefined;
    const { apiVersion, kind, metadata, ...rest } = current.object;
    if (equalJson(rest, content)) return current;
    return this.#update(current, { apiVersion, kind, metadata, ...content }, manager, '');
  }

  /** Deletes an object; does nothing when it no longer exists. */
  delete(stored: Stored, gracePeriodSeconds?: number): void {
    const current = this.get(stored.storage, stored.namespace, stored.name);
    const resource = this.registry.findStorage(stored.storage);
    if (!current || !resource) return;
    this.api.delete(
      resource,
      stored.namespace,
      stored.name,
      gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds },
    );
  }

  /** The owner reference for a dependent of this object. */
  ownerReference(owner: Stored): JsonObject {
    const resource = must(this.registry.findStorage(owner.storage), 'the resource of an owner');
    return {
      apiVersion: asString(owner.object.apiVersion) || apiVersionOf(resource),
      kind: resource.kind,
      name: owner.name,
      uid: owner.uid,
      controller: true,
      blockOwnerDeletion: true,
    };
  }

  /** Records an Event about an object. The oldest are dropped beyond 2000, and after an hour. */
  emit(
    about: Stored,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    component: string,
    when = this.clock.now(),
  ): void {
    const namespace = about.namespace === '' ? 'default' : about.namespace;
    if (this.get('namespaces', '', namespace)?.object.metadata === undefined) return;
    if (metadataOf(must(this.get('namespaces', '', namespace), 'the namespace').object).deletionTimestamp !== undefined)
      return;
    const resource = must(this.registry.findStorage(about.storage), 'the resource of an event');
    const name = `${about.name}.${randomSuffix(this.random, 16)}`;
    const time = timeText(when);
    this.create(
      '',
      'events',
      {
        metadata: { name, namespace, creationTimestamp: time },
        involvedObject: {
          kind: resource.kind,
          namespace: about.namespace,
          name: about.name,
          uid: about.uid,
          apiVersion: apiVersionOf(resource),
          resourceVersion: String(about.revision),
        },
        reason,
        message,
        source: { component },
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
        type,
        eventTime: microTimeText(when),
        reportingComponent: component,
        reportingInstance: component,
      },
      component,
    );
    this.#events.push({ namespace, name, emitted: this.clock.now() });
    const ended = this.clock.now() - eventsMs;
    for (let [oldest] = this.#events; oldest; [oldest] = this.#events) {
      if (this.#events.length <= maxEvents && oldest.emitted > ended) return;
      this.#events.shift();
      const gone = this.get('events', oldest.namespace, oldest.name);
      if (gone) this.delete(gone);
    }
  }

  nowText(): string {
    return timeText(this.clock.now());
  }

  /** An integer in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  /** A random item of a non-empty list. */
  pick<T>(list: readonly T[]): T {
    return must(list[Math.floor(this.random() * list.length)], 'a list with something in it');
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  #update(current: Stored, object: JsonObject, manager: string, subresource: '' | 'status'): Stored {
    const resource = must(this.registry.findStorage(current.storage), 'the resource of an object');
    return this.api.update(resource, current.namespace, current.name, object, {
      trusted: true,
      fieldManager: manager,
      subresource,
    });
  }
}

const controllers = new WeakMap<Stored, JsonObject | null>();

/** The owner reference of the controller of an object. */
export function controllerOf(stored: Stored): JsonObject | undefined {
  let found = controllers.get(stored);
  if (found === undefined) {
    const owners = asArray(metadataOf(stored.object).ownerReferences).filter(isObject);
    found = owners.find((item) => item.controller === true) ?? null;
    controllers.set(stored, found);
  }
  return found ?? undefined;
}

/** Whether an object is being deleted. */
export function isDeleting(stored: Stored): boolean {
  return metadataOf(stored.object).deletionTimestamp !== undefined;
}

/** The number at a chain of keys, or 0. */
export function numberAt(object: JsonObject, ...keys: string[]): number {
  const value = at(object, ...keys);
  return typeof value === 'number' ? value : 0;
}

/** Whether a condition of the status is True. */
export function hasCondition(object: JsonObject, type: string): boolean {
  return asArray(at(object, 'status', 'conditions')).some(
    (item) => asObject(item).type === type && asObject(item).status === 'True',
  );
}
