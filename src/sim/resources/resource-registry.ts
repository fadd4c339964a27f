/**
 * The resources that are served right now. Built-in ones are there from the start; the CRD manager adds, replaces and
 * withdraws the others. Never: touches objects.
 */
import type { ServedResource } from './served-resource.ts';

export type RegistryListener = (withdrawn: readonly ServedResource[]) => void;

export class ResourceRegistry {
  readonly #resources = new Map<string, ServedResource>();
  readonly #listeners = new Set<RegistryListener>();
  #generation = 0;

  /** Grows with every change; what is derived from the registry is cached by it. */
  get generation(): number {
    return this.#generation;
  }

  /** Puts `added` in place of `removed` in one step; listeners hear of the withdrawn ones. */
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

  /** Any resource that is kept in this storage. */
  findStorage(storage: string): ServedResource | undefined {
    for (const resource of this.#resources.values()) if (resource.storage === storage) return resource;
    return undefined;
  }

  all(): readonly ServedResource[] {
    return [...this.#resources.values()];
  }

  /** Hears which resources were withdrawn or replaced, so that their watches can be ended. */
  onWithdrawn(listener: RegistryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function keyOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
