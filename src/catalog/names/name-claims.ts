/**
 * Gives the kinds their names. A name is for ever: once a resource has had it, it never stands for another one.
 *
 * Kinds are named in the order in which they came; kinds that are gone keep their place. A kind gets the names that kind-names.ts derives
 * from its group, Kind and plural. If an earlier resource has one of these names, the kind is named after its key.
 *
 * So the names follow from the order alone, and the store keeps that order (Resources). Names are compared without letter case, because code
 * generators may fold it. A name after a key contains "___". No derived name contains it, and two keys never give the same name.
 */
import type { KindNames } from '../resources/catalog.ts';
import { resourceKey } from '../resources/resource.ts';
import { type NamedKind, namedKindId, namesByKey, namesOf } from './kind-names.ts';
import { staticRoots, staticTypes } from './reserved-names.ts';

interface GivenNames {
  readonly names: KindNames;
  /** Why the kind is named after its key; null for derived names. */
  readonly taken: string | null;
}

/** Names of the kinds so far, which are given in the order in which the kinds came. */
export class NameClaims {
  readonly #given = new Map<string, GivenNames>();
  /** The resourceKey of the holder of each folded name. */
  readonly #types = new Map<string, string>();
  readonly #queries = new Map<string, string>();
  readonly #subscriptions = new Map<string, string>();

  constructor() {
    for (const name of staticTypes) this.#types.set(name.toLowerCase(), 'the static schema');
    for (const name of staticRoots) {
      this.#queries.set(name.toLowerCase(), 'the static schema');
      this.#subscriptions.set(name.toLowerCase(), 'the static schema');
    }
  }

  /** The names of a kind. It keeps its present names. */
  namesOf(kind: NamedKind): GivenNames {
    const id = namedKindId(kind);
    const given = this.#given.get(id) ?? this.#give(kind);
    this.#given.set(id, given);
    return given;
  }

  /** Whether a type of the static schema or of a kind has the name. @param name in lower case */
  hasType(name: string): boolean {
    return this.#types.has(name);
  }

  #give(kind: NamedKind): GivenNames {
    const key = resourceKey(kind);
    const derived = namesOf(kind);
    const taken = this.#takenOf(key, derived);
    const names = taken === null ? derived : namesByKey(kind);
    for (const [of, held] of this.#spaces(names)) for (const name of of) held.set(name, key);
    return { names, taken };
  }

  /** Which of the names belongs to another resource. */
  #takenOf(key: string, names: KindNames): string | null {
    for (const [of, held] of this.#spaces(names)) {
      if (new Set(of).size < of.length) return 'two of its names are alike';
      for (const name of of) {
        const holder = held.get(name);
        if (holder !== undefined && holder !== key)
          return `the name ${name} (in lower case) belongs to ${holder}, which came before`;
      }
    }
    return null;
  }

  /** The folded names, with the holders of names of their sort. */
  #spaces(names: KindNames): readonly (readonly [readonly string[], Map<string, string>])[] {
    const { type, connection, edge, filter, changes, change, list, one, subscription } = names;
    const folded = (...some: readonly string[]): readonly string[] => some.map((name) => name.toLowerCase());
    return [
      [folded(type, connection, edge, filter, changes, change), this.#types],
      [folded(list, one), this.#queries],
      [folded(subscription), this.#subscriptions],
    ];
  }
}
