/**
 * The CustomResourceDefinitions that kinds were described from, and the kinds that are to be described again.
 *
 *   described -> the definition passes by with another version: changed -> taken by the next round, which describes the kind again
 *                                                                       -> put back when that round fails
 *
 * The name of a definition is the resourceKey of its kind.
 */
import type { SeenObject } from '../context/reflector-context.ts';
import { type Crd, crdOf } from './crd-source.ts';

/** A definition as it was when its kind was described. */
type Definition = Pick<Crd, 'uid' | 'resourceVersion'>;

export class Definitions {
  readonly #described = new Map<string, Definition>();
  #changed = new Set<string>();

  /** Forgets all: another connection begins. */
  clear(): void {
    this.#described.clear();
    this.#changed.clear();
  }

  /** Looks at definitions that pass by in a watch; true when any of them is new, different or deleted. */
  see(objects: readonly SeenObject[]): boolean {
    let news = false;
    for (const { object, deleted } of objects) {
      const { name, uid, resourceVersion } = crdOf(object.value ?? parse(object.text));
      const known = this.#described.get(name);
      if (!deleted && known?.uid === uid && known.resourceVersion === resourceVersion) continue;
      if (!deleted) this.#changed.add(name);
      news = true;
    }
    return news;
  }

  describes(key: string): boolean {
    return this.#described.has(key);
  }

  /** Notes the definition that a kind is described from; true when it is another one of the same name. */
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

  /** The changed kinds, which are no longer noted from now on. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  putBack(changed: ReadonlySet<string>): void {
    for (const key of changed) this.#changed.add(key);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
