/**
 * Records the CustomResourceDefinitions from which kinds were described, and the kinds that must be described again.
 *
 *   described -> a list or watch brings another version: changed -> the next round takes it and describes the kind again
 *                                                                -> put back if that round fails
 *
 * The name of a definition is the resourceKey of its kind.
 */
import { parsedJson } from '../../base/json.ts';
import type { SeenObject } from '../context/reflector-context.ts';
import { type Crd, crdOf } from './crd-source.ts';

/** The version of a definition from which its kind was described. */
type Definition = Pick<Crd, 'uid' | 'resourceVersion'>;

export class Definitions {
  readonly #described = new Map<string, Definition>();
  #changed = new Set<string>();

  /** Removes everything. Call it for each new connection. */
  clear(): void {
    this.#described.clear();
    this.#changed.clear();
  }

  /** Compares listed or watched definitions with the recorded ones. True if any is new, different or deleted. */
  see(objects: readonly SeenObject[]): boolean {
    let differs = false;
    for (const { object, deleted } of objects) {
      const { name, uid, resourceVersion } = crdOf(object.value ?? parsedJson(object.text));
      const known = this.#described.get(name);
      if (!deleted && known?.uid === uid && known.resourceVersion === resourceVersion) continue;
      if (!deleted) this.#changed.add(name);
      differs = true;
    }
    return differs;
  }

  describes(key: string): boolean {
    return this.#described.has(key);
  }

  /** Records the definition from which a kind is described. True if it replaces another one of the same name. */
  describe(key: string, definition: Definition): boolean {
    const known = this.#described.get(key);
    this.#described.set(key, definition);
    return known !== undefined && known.uid !== definition.uid;
  }

  forget(key: string): void {
    this.#described.delete(key);
  }

  markChanged(key: string): void {
    this.#changed.add(key);
  }

  /** Returns the changed kinds and clears their record. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  putBack(changed: ReadonlySet<string>): void {
    for (const key of changed) this.#changed.add(key);
  }
}
