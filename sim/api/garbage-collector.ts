/**
 * Garbage collection by owner references, and the deletion of the objects in a namespace.
 *
 * Owns: an index from the uid of an owner to its dependents, updated by every store event.
 *
 * - Owner deleted -> each dependent without another existing owner is deleted; the others lose the reference.
 * - Owner deleted in the foreground -> its dependents are deleted. Its finalizer is removed once no blocking dependent is left.
 * - Owner orphans its dependents -> their references to it are removed, then its finalizer.
 * - Namespace deleted -> its objects are deleted, and it is removed once no object is left.
 *
 * The work runs in a microtask after the event, so the write that caused it returns first.
 */
import { asArray, asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored, StoreEvent } from '../objects/object-store.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import { metadataOf } from '../resources/served-resource.ts';
import type { ObjectApi } from './object-api.ts';

type Work = () => void;

export class GarbageCollector {
  readonly #api: ObjectApi;
  readonly #registry: ResourceRegistry;
  readonly #dependents = new Map<string, Map<string, Stored>>();
  /** All existing objects, by uid. */
  readonly #uids = new Map<string, Stored>();
  readonly #work: Work[] = [];
  readonly #unsubscribe: () => void;
  #scheduled = false;
  #stopped = false;

  constructor(api: ObjectApi, registry: ResourceRegistry) {
    this.#api = api;
    this.#registry = registry;
    this.#unsubscribe = api.store.subscribe('*', (event) => this.#onEvent(event));
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
  }

  #onEvent(event: StoreEvent): void {
    const { stored, previous, type } = event;
    if (type === 'DELETED') this.#uids.delete(stored.uid);
    else this.#uids.set(stored.uid, stored);
    const owners = type === 'DELETED' ? [] : ownerUids(stored);
    const before = previous ? ownerUids(previous) : [];
    for (const uid of before) if (!owners.includes(uid)) this.#dependents.get(uid)?.delete(stored.uid);
    for (const uid of owners) {
      let set = this.#dependents.get(uid);
      if (!set) {
        set = new Map();
        this.#dependents.set(uid, set);
      }
      set.set(stored.uid, stored);
    }
    if (type === 'DELETED') {
      if (this.#dependents.has(stored.uid)) this.#later(() => this.#collect(stored.uid));
      for (const uid of before) this.#later(() => this.#finishForeground(uid));
      const terminating = stored.namespace === '' ? undefined : this.#api.store.get('namespaces', '', stored.namespace);
      if (terminating && isDeleting(terminating)) this.#later(() => this.#emptyNamespace(stored.namespace, false));
      return;
    }
    if (type === 'ADDED' && owners.length > 0 && !owners.some((uid) => this.#uids.has(uid))) {
      this.#later(() => this.#collectObject(stored));
    }
    if (!isDeleting(stored)) return;
    const finalizers = asArray(metadataOf(stored.object).finalizers);
    if (stored.storage === 'namespaces') this.#later(() => this.#emptyNamespace(stored.name, true));
    if (finalizers.includes('orphan')) this.#later(() => this.#orphan(stored));
    else if (finalizers.includes('foregroundDeletion')) this.#later(() => this.#foreground(stored));
  }

  #later(work: Work): void {
    this.#work.push(work);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      for (let next = this.#work.shift(); next && !this.#stopped; next = this.#work.shift()) next();
    });
  }

  #current(stored: Stored): Stored | undefined {
    const found = this.#api.store.get(stored.storage, stored.namespace, stored.name);
    return found?.uid === stored.uid ? found : undefined;
  }

  #delete(stored: Stored, propagationPolicy?: string): void {
    const resource = this.#registry.findStorage(stored.storage);
    const current = this.#current(stored);
    if (!resource || !current || (isDeleting(current) && propagationPolicy === undefined)) return;
    this.#api.delete(resource, current.namespace, current.name, propagationPolicy ? { propagationPolicy } : {});
  }

  /** Deletes the dependents of a deleted owner. */
  #collect(ownerUid: string): void {
    const dependents = [...(this.#dependents.get(ownerUid)?.values() ?? [])];
    this.#dependents.delete(ownerUid);
    for (const stored of dependents) this.#collectObject(stored);
  }

  #collectObject(stored: Stored): void {
    const current = this.#current(stored);
    if (!current) return;
    const owners = ownerUids(current);
    const present = owners.filter((uid) => this.#uids.has(uid));
    if (present.length === 0) this.#delete(current);
    else if (present.length < owners.length) this.#keepOwners(current, present);
  }

  #keepOwners(stored: Stored, uids: readonly string[]): void {
    const resource = this.#registry.findStorage(stored.storage);
    if (!resource) return;
    const references = asArray(metadataOf(stored.object).ownerReferences);
    const kept = references.filter((item) => uids.includes(asString(asObject(item).uid)));
    const patch: JsonObject = { metadata: { ownerReferences: kept.length > 0 ? kept : null } };
    this.#api.patch(resource, stored.namespace, stored.name, 'merge', patch, { trusted: true });
  }

  #orphan(owner: Stored): void {
    for (const stored of [...(this.#dependents.get(owner.uid)?.values() ?? [])]) {
      const current = this.#current(stored);
      if (current)
        this.#keepOwners(
          current,
          ownerUids(current).filter((uid) => uid !== owner.uid),
        );
    }
    const resource = this.#registry.findStorage(owner.storage);
    if (resource) this.#api.removeFinalizer(resource, owner, 'orphan');
  }

  #foreground(owner: Stored): void {
    for (const stored of [...(this.#dependents.get(owner.uid)?.values() ?? [])]) {
      const current = this.#current(stored);
      if (!current || isDeleting(current)) continue;
      const others = ownerUids(current).filter((uid) => uid !== owner.uid && this.#uids.has(uid));
      if (others.length > 0) this.#keepOwners(current, others);
      else this.#delete(current, 'Foreground');
    }
    this.#finishForeground(owner.uid, owner);
  }

  /** Removes the finalizer from an owner once no blocking dependents are left. */
  #finishForeground(uid: string, known?: Stored): void {
    const blocking = [...(this.#dependents.get(uid)?.values() ?? [])].filter((stored) => blocks(stored, uid));
    if (blocking.length > 0) return;
    const owner = known ?? this.#uids.get(uid);
    const current = owner && this.#current(owner);
    if (!current || !asArray(metadataOf(current.object).finalizers).includes('foregroundDeletion')) return;
    const resource = this.#registry.findStorage(current.storage);
    if (resource && isDeleting(current)) this.#api.removeFinalizer(resource, current, 'foregroundDeletion');
  }

  #emptyNamespace(name: string, first: boolean): void {
    const namespace = this.#api.store.get('namespaces', '', name);
    if (!namespace || !isDeleting(namespace)) return;
    let left = 0;
    for (const storage of this.#api.store.storages()) {
      if (this.#registry.findStorage(storage)?.namespaced !== true) continue;
      if (first) for (const stored of this.#api.store.list(storage, name)) this.#delete(stored);
      left += this.#api.store.list(storage, name).length;
    }
    if (left > 0 || asArray(metadataOf(namespace.object).finalizers).length > 0) return;
    this.#api.store.remove('namespaces', '', name, (resourceVersion) => ({
      ...namespace.object,
      metadata: { ...metadataOf(namespace.object), resourceVersion },
    }));
  }
}

function ownerUids(stored: Stored): string[] {
  return asArray(metadataOf(stored.object).ownerReferences).map((item) => asString(asObject(item).uid));
}

function isDeleting(stored: Stored): boolean {
  return metadataOf(stored.object).deletionTimestamp !== undefined;
}

function blocks(stored: Stored, ownerUid: string): boolean {
  return asArray(at(stored.object, 'metadata', 'ownerReferences')).some((item) => {
    const { uid, blockOwnerDeletion } = asObject(item);
    return uid === ownerUid && blockOwnerDeletion === true;
  });
}
