/**
 * No GraphQL name stands for two things: not a type, not a root field, not even when letter case is folded (code generators do that).
 *
 * The naming rules leave next to no ties (research on four thousand real kinds found none between different kinds). Where one is, the
 * kind that is later by (group, plural) loses.
 */
import type { Catalog, Diagnostic, KindNames } from '../resources/catalog.ts';
import type { FieldTree } from '../tree/field-tree.ts';
import { staticRoots, staticTypes } from './reserved-names.ts';
import { nameShapes } from './shape-names.ts';

interface NamedKind {
  /** resourceKey. */
  readonly key: string;
  readonly names: KindNames;
  readonly tree: FieldTree;
}

/** Hands out names to kinds, in the catalog's order. */
export class NameClaims {
  /** Who has a name, by the folded name. */
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

  /** Claims all names of a kind, or none: then the message says which one is taken and by what. */
  claim(kind: NamedKind): string | null {
    const { key, names, tree } = kind;
    const own = [names.type, names.connection, names.edge, names.filter, names.changes, names.change];
    const types = new Map(own.map((name) => [name.toLowerCase(), key]));
    if (types.size < own.length) return `two of its own type names are alike (${own.join(', ')})`;
    for (const [shapeKey, name] of nameShapes(names.type, tree)) {
      if (shapeKey === tree.root) continue;
      const folded = name.toLowerCase();
      const definition = tree.shapes[shapeKey]?.definition;
      if (types.has(folded)) return `its type name ${name} is taken by itself`;
      // A definition is one type in all kinds, so it belongs to none of them.
      types.set(folded, definition === undefined ? key : `the definition ${definition}`);
    }
    for (const [name, owner] of types) {
      const holder = this.#types.get(name);
      if (holder === undefined || (holder === owner && owner !== key)) continue;
      if (holder === 'the static schema' && sharedInStatic(owner)) continue;
      return `its type name ${name} (in lower case) is taken by ${holder}`;
    }
    for (const name of [names.list, names.one]) {
      const holder = this.#queries.get(name.toLowerCase());
      if (holder !== undefined) return `its root field ${name} is taken by ${holder}`;
    }
    if (names.list.toLowerCase() === names.one.toLowerCase())
      return `its root fields ${names.list} and ${names.one} are alike`;
    const holder = this.#subscriptions.get(names.subscription.toLowerCase());
    if (holder !== undefined) return `its subscription ${names.subscription} is taken by ${holder}`;
    for (const [name, owner] of types) this.#types.set(name, owner);
    for (const name of [names.list, names.one]) this.#queries.set(name.toLowerCase(), key);
    this.#subscriptions.set(names.subscription.toLowerCase(), key);
    return null;
  }
}

/** Ties in a catalog, as diagnostics of the kinds that lose; none in one that assembleCatalog made. */
export function checkNames(catalog: Pick<Catalog, 'kinds'>): readonly Diagnostic[] {
  const claims = new NameClaims();
  return catalog.kinds.flatMap((kind): Diagnostic[] => {
    const message = claims.claim(kind);
    return message === null ? [] : [{ cluster: kind.clusters[0] ?? '', resource: kind.key, message }];
  });
}

/** Types of the static schema that shapes of kinds are meant to be. */
function sharedInStatic(owner: string): boolean {
  return /^the definition (Condition|EmbeddedObjectMeta|ObjectMeta|OwnerReference)$/.test(owner);
}
