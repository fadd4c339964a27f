/**
 * Ensures that each GraphQL name belongs to one type or root field. Names are compared without letter case, because code
 * generators may fold it.
 *
 * The naming rules rarely produce conflicts: four thousand real kinds had none between different kinds. On a conflict the kind
 * that is later by (group, plural) loses.
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

/** Assigns names to kinds, in the catalog's order. */
export class NameClaims {
  /** The owner of each name, by the folded name. */
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

  /** Claims all names of a kind, or none. On failure the message names the conflict and its owner. */
  claim(kind: NamedKind): string | null {
    const { key, names } = kind;
    const types = knownTypes(kind);
    if (typeof types === 'string') return types;
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

/** The folded type names of a kind, each with its owner: the kind or a definition. A message if two of them are alike. */
type TypeNames = ReadonlyMap<string, string> | string;

/** Cached by tree: most kinds of a catalog have the same tree as in the previous one. */
const known = new WeakMap<FieldTree, { readonly of: string; readonly types: TypeNames }>();

function knownTypes(kind: NamedKind): TypeNames {
  const { key, names, tree } = kind;
  const own = [names.type, names.connection, names.edge, names.filter, names.changes, names.change];
  const of = [key, ...own].join();
  const found = known.get(tree);
  if (found?.of === of) return found.types;
  const types = typesOf(kind, own);
  known.set(tree, { of, types });
  return types;
}

function typesOf({ key, names, tree }: NamedKind, own: readonly string[]): TypeNames {
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
  return types;
}

/** Name conflicts in a catalog, as diagnostics of the losing kinds. Empty for a catalog from assembleCatalog. */
export function checkNames(catalog: Pick<Catalog, 'kinds'>): readonly Diagnostic[] {
  const claims = new NameClaims();
  return catalog.kinds.flatMap((kind): Diagnostic[] => {
    const message = claims.claim(kind);
    return message === null ? [] : [{ cluster: kind.clusters[0] ?? '', resource: kind.key, message }];
  });
}

/** Types of the static schema that shapes of kinds use intentionally. */
function sharedInStatic(owner: string): boolean {
  return /^the definition (Condition|EmbeddedObjectMeta|ObjectMeta|OwnerReference)$/.test(owner);
}
