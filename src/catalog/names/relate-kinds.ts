/**
 * Finds the relations of each kind of a catalog, in both directions, and gives each name to one of them.
 *
 *   Pod declares node -> Node, reverse pods
 *   pods:  node   forward, to nodes
 *   nodes: pods   reverse, to pods
 *
 * Each namespaced kind has the relation `namespace` to the kind Namespace, without a field in the other direction.
 *
 * A name belongs to the kind's data, to the fields of every object and to the fields of every filter first. Then forward relations come
 * before reverse ones, and origins in the order of `relationOrigins`. A relation to a kind that no cluster serves is left out.
 */
import type { DeclaredWay, DescribedRelation } from '../relations/described-relation.ts';
import { statesNamespace } from '../relations/place-text.ts';
import { relationOrigins, textOfKind } from '../relations/relation.ts';
import type { CatalogKind, Diagnostic, KindRelation } from '../resources/catalog.ts';
import { fieldName } from './field-names.ts';
import { filterFields, injectedFields } from './reserved-names.ts';

/** A kind with the relations that begin at it, from the descriptions of all clusters. */
export interface RelatedKind extends Pick<CatalogKind, 'key' | 'resource' | 'tree' | 'clusters'> {
  readonly declared: readonly DescribedRelation[];
}

interface RelatedKinds {
  /** By resourceKey; sorted by name. */
  readonly relations: ReadonlyMap<string, readonly KindRelation[]>;
  readonly diagnostics: readonly Diagnostic[];
}

export function relateKinds(kinds: readonly RelatedKind[]): RelatedKinds {
  const byText = new Map<string, RelatedKind>();
  for (const kind of kinds) {
    const text = textOfKind(kind.resource);
    if (!byText.has(text)) byText.set(text, kind);
  }
  const diagnostics: Diagnostic[] = [];
  const candidates = new Map(kinds.map(({ key }): [string, KindRelation[]] => [key, []]));
  for (const kind of kinds) {
    for (const relation of mergedByName(kind.declared)) {
      const { name, to, reverse, reverseOn, many, weak = false, origin, way } = relation;
      const target = to === null ? null : byText.get(to);
      if (target === undefined) continue;
      const { key: source } = kind;
      const shared = { weak, origin };
      if (way.by === 'owns') {
        // The other kind has the owner references.
        if (target === null) continue;
        const owned = { ...shared, source: target.key, way: { by: 'owner' }, forward: reverse ?? name } as const;
        candidates.get(source)?.push({ ...owned, name, direction: 'reverse', to: target.key, many: true });
        if (reverse !== null) {
          candidates.get(target.key)?.push({ ...owned, name: reverse, direction: 'forward', to: source, many: false });
        }
        continue;
      }
      if (target !== null && origin !== 'SHIPPED' && !canMatch(kind, target, way)) {
        const message = `the relation ${name} never leads to an object: ${kind.resource.kind} has no namespace, and ${target.resource.kind} has one. Give the path of the namespace (namespace), or its name (inNamespace)`;
        diagnostics.push({ cluster: kind.clusters[0] ?? '', resource: source, message });
      }
      const declared = { ...shared, source, way, forward: name };
      candidates.get(source)?.push({ ...declared, name, direction: 'forward', to: target?.key ?? null, many });
      if (reverse === null) continue;
      const ends = reverseOn === 'any' ? kinds : reverseOn.flatMap((text) => byText.get(text) ?? []);
      for (const end of ends) {
        candidates.get(end.key)?.push({ ...declared, name: reverse, direction: 'reverse', to: source, many: true });
      }
    }
  }
  const namespaces = byText.get('Namespace');
  const relations = new Map<string, readonly KindRelation[]>();
  for (const kind of kinds) {
    if (namespaces?.resource.namespaced === false && kind.resource.namespaced)
      candidates.get(kind.key)?.push(toNamespace(kind.key, namespaces.key));
    const report = (message: string): void => {
      diagnostics.push({ cluster: kind.clusters[0] ?? '', resource: kind.key, message });
    };
    relations.set(kind.key, named(kind, candidates.get(kind.key) ?? [], report));
  }
  return { relations, diagnostics };
}

/** @param source the key of a namespaced kind. @param to that of the kind Namespace */
function toNamespace(source: string, to: string): KindRelation {
  const way = { by: 'namespace' } as const;
  return {
    name: 'namespace',
    forward: 'namespace',
    direction: 'forward',
    source,
    to,
    many: false,
    weak: false,
    origin: 'SHIPPED',
    way,
  };
}

/**
 * A reference of a cluster-scoped object to a namespaced one names no object if no place states a namespace. An owner has the scope of what
 * it owns, or none.
 */
function canMatch({ resource: from }: RelatedKind, { resource: to }: RelatedKind, way: DeclaredWay): boolean {
  if (from.namespaced || !to.namespaced) return true;
  return way.by === 'selector' || (way.by === 'reference' && way.places.some(statesNamespace));
}

/** The relations that get their name. */
function named(
  { tree }: RelatedKind,
  candidates: readonly KindRelation[],
  report: (message: string) => void,
): readonly KindRelation[] {
  const taken = new Map<string, string>();
  const data = tree.shapes[tree.root]?.fields ?? [];
  for (const { name } of data) taken.set(fieldName(name, 'root').toLowerCase(), 'a field of the data');
  for (const name of [...injectedFields, ...filterFields]) {
    if (name !== eventsField) taken.set(name.toLowerCase(), 'a field of every kind');
  }
  const found: KindRelation[] = [];
  for (const relation of candidates.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const { name, source } = relation;
    const folded = name.toLowerCase();
    const owner = taken.get(folded);
    if (owner === undefined) {
      taken.set(folded, `another relation, with ${source}`);
      found.push(relation);
    } else report(`the relation ${name} with ${source} is left out: the name belongs to ${owner}`);
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A reserved name that is a relation: the Events about an object. */
const eventsField = 'events';

function rankOf({ direction, origin }: KindRelation): number {
  return relationOrigins.indexOf(origin) * 2 + (direction === 'forward' ? 0 : 1);
}

/** Clusters may declare different places of one relation: versions of Kubernetes differ. */
function mergedByName(declared: readonly DescribedRelation[]): readonly DescribedRelation[] {
  const merged = new Map<string, DescribedRelation>();
  for (const relation of declared) {
    const known = merged.get(relation.name);
    merged.set(relation.name, known === undefined ? relation : { ...known, way: mergedWay(known.way, relation.way) });
  }
  return [...merged.values()];
}

function mergedWay(a: DeclaredWay, b: DeclaredWay): DeclaredWay {
  if (a.by !== 'reference' || b.by !== 'reference') return a;
  return { by: 'reference', places: [...new Set([...a.places, ...b.places])] };
}
