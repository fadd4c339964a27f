/**
 * Turns stored CustomResourceDefinitions into served resources.
 *
 * Owns: the map from each definition to its resources in the registry.
 *
 * - Created -> names checked against the kinds and plurals of its group -> served, with the conditions Established and
 *   NamesAccepted.
 * - Spec changed -> its resources are replaced in one step, and watches on them end.
 * - Deleted -> its objects are deleted, then its finalizer is removed. Its resources are withdrawn with the definition.
 *
 * A created or changed definition takes effect before the write returns, so the client can use the resource at once.
 */

import type { ObjectApi } from '../api/object-api.ts';
import { crdFinalizer } from '../builtin/crd-finalizer.ts';
import { asArray, asObject, asString, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored, StoreEvent } from '../objects/object-store.ts';
import { nowText } from '../resources/object-metadata.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import { metadataOf, type ServedResource } from '../resources/served-resource.ts';
import { customResources } from './custom-resource.ts';

const storage = 'customresourcedefinitions.apiextensions.k8s.io';

export class CrdManager {
  readonly #api: ObjectApi;
  readonly #registry: ResourceRegistry;
  readonly #served = new Map<string, readonly ServedResource[]>();
  readonly #draining = new Map<string, () => void>();
  readonly #unsubscribe: () => void;

  constructor(api: ObjectApi, registry: ResourceRegistry) {
    this.#api = api;
    this.#registry = registry;
    this.#unsubscribe = api.store.subscribe(storage, (event) => this.#onEvent(event));
  }

  stop(): void {
    this.#unsubscribe();
    for (const stop of this.#draining.values()) stop();
  }

  #onEvent(event: StoreEvent): void {
    const { stored, previous } = event;
    if (event.type === 'DELETED') {
      this.#registry.replace(this.#served.get(stored.name) ?? [], []);
      this.#served.delete(stored.name);
      return;
    }
    const current = this.#api.store.get(storage, '', stored.name);
    if (!current || current.revision !== stored.revision) return;
    if (metadataOf(stored.object).deletionTimestamp !== undefined) {
      if (!this.#draining.has(stored.name)) this.#drain(stored);
      return;
    }
    const changed = !previous || !equalJson(previous.object.spec, stored.object.spec);
    if (!changed) return;
    const conflict = this.#nameConflict(stored);
    const before = this.#served.get(stored.name) ?? [];
    const next = conflict === undefined ? customResources(stored.object) : [];
    this.#served.set(stored.name, next);
    this.#registry.replace(before, next);
    this.#writeStatus(stored, conflict);
  }

  /** The reason why the names conflict with another resource, or undefined. */
  #nameConflict(stored: Stored): string | undefined {
    const spec = asObject(stored.object.spec);
    const names = asObject(spec.names);
    const group = asString(spec.group);
    for (const resource of this.#registry.all()) {
      if (resource.group !== group || this.#served.get(stored.name)?.includes(resource)) continue;
      if (resource.storage === stored.name) continue;
      if (resource.kind === names.kind) return `"${resource.kind}" is already in use`;
      if (resource.plural === names.plural) return `"${resource.plural}" is already in use`;
    }
    return undefined;
  }

  #writeStatus(stored: Stored, conflict: string | undefined): void {
    const resource = this.#registry.findStorage(storage);
    if (!resource) return;
    const spec = asObject(stored.object.spec);
    const status = asObject(stored.object.status);
    const storageVersion = asArray(spec.versions)
      .filter(isObject)
      .find((version) => version.storage === true);
    const storedVersions = new Set([...asArray(status.storedVersions).map(asString), asString(storageVersion?.name)]);
    const accepted = conflict === undefined;
    const conditions = [
      this.#condition(
        status,
        'NamesAccepted',
        accepted,
        accepted ? 'NoConflicts' : 'KindConflict',
        conflict ?? 'no conflicts found',
      ),
      this.#condition(
        status,
        'Established',
        accepted,
        accepted ? 'InitialNamesAccepted' : 'NotAccepted',
        accepted ? 'the initial names have been accepted' : 'not all names are accepted',
      ),
    ];
    const object: JsonObject = {
      ...stored.object,
      status: {
        conditions,
        acceptedNames: accepted ? asObject(spec.names) : { plural: '', kind: '' },
        storedVersions: [...storedVersions],
      },
    };
    this.#api.update(resource, '', stored.name, object, {
      trusted: true,
      fieldManager: 'kube-apiserver',
      subresource: '',
    });
  }

  #condition(status: JsonObject, type: string, ok: boolean, reason: string, message: string): JsonObject {
    const value = ok ? 'True' : 'False';
    const known = asArray(status.conditions)
      .filter(isObject)
      .find((condition) => condition.type === type);
    if (known?.status === value) return { ...known, reason, message };
    return { type, status: value, lastTransitionTime: nowText(this.#api.clock), reason, message };
  }

  /** Deletes the objects; removes the finalizer of the definition once none is left. */
  #drain(crd: Stored): void {
    const [resource] = this.#served.get(crd.name) ?? [];
    const definition = this.#registry.findStorage(storage);
    if (!definition) return;
    const finish = (): void => {
      if (this.#api.store.count(crd.name) > 0) return;
      this.#draining.get(crd.name)?.();
      this.#draining.delete(crd.name);
      this.#api.removeFinalizer(definition, crd, crdFinalizer);
    };
    this.#draining.set(
      crd.name,
      this.#api.store.subscribe(crd.name, (event) => {
        if (event.type === 'DELETED') finish();
      }),
    );
    if (resource) {
      for (const stored of this.#api.store.list(crd.name)) {
        if (metadataOf(stored.object).deletionTimestamp === undefined) {
          this.#api.delete(resource, stored.namespace, stored.name);
        }
      }
    }
    finish();
  }
}
