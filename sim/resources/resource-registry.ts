/**
 * The resources that are currently served. The built-in ones are registered at the start. The CRD manager adds, replaces and
 * withdraws the others. Never: touches objects.
 */
import type { ServedResource } from './served-resource.ts';

type RegistryListener = (withdrawn: readonly ServedResource[]) => void;

export class ResourceRegistry {
  readonly #resources = new Map<string, ServedResource>();
  readonly #listeners = new Set<RegistryListener>();
  #generation = 0;

  /** Grows with every change; derived documents are cached by it. */
  get generation(): number {
    return this.#generation;
  }

  /** Replaces `removed` by `added` in one step, and notifies listeners of the withdrawn ones. */
  replace(removed: readonly ServedResource[], added: readonly ServedResource[]): void {
    for (const resource of removed) this.#resources.delete(keyOf(resource.group, resource.version, resource.plural));
    for (const resource of added)
      this.#resources.set(keyOf(resource.group, resource.version, resource.plural), resource);
    this.#generation++;
    if (removed.length > 0) for (const listener of this.#listeners) listener(removed);
  }

  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#resources.get(keyOf(group, version, plural));
  }

  hasGroupVersion(group: string, version: string): boolean {
    for (const resource of this.#resources.values())
      if (resource.group === group && resource.version === version) return true;
    return false;
  }

  /** Any version of a kind, for owner references and helpers. */
  findKind(group: string, kind: string, version?: string): ServedResource | undefined {
    for (const resource of this.#resources.values()) {
      if (resource.group !== group || resource.kind !== kind || resource.bare) continue;
      if (version === undefined || resource.version === version) return resource;
    }
    return undefined;
  }

  /** Any version of a resource. */
  findPlural(group: string, plural: string): ServedResource | undefined {
    for (const resource of this.#resources.values()) {
      if (resource.group === group && resource.plural === plural) return resource;
    }
    return undefined;
  }

  /** Any resource with this storage. */
  findStorage(storage: string): ServedResource | undefined {
    for (const resource of this.#resources.values()) if (resource.storage === storage) return resource;
    return undefined;
  }

  all(): readonly ServedResource[] {
    return [...this.#resources.values()];
  }

  /** Notifies of withdrawn or replaced resources, so that their watches can end. */
  onWithdrawn(listener: RegistryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function keyOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
