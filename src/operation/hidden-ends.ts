/**
 * Warns of values and conditions of related objects that the caller may not see. The answer alone does not tell the difference:
 *
 *   pods(filter: { node: { exists: false } })   by a caller without a right to Nodes: every Pod, as if it had no Node
 *
 * The decision depends on the rights and the request alone. It is the same whether there are such objects or not.
 */
import { homesWithin, type Scope, scopeIn } from '../access/scope.ts';
import { shortList } from '../base/text/short-list.ts';
import { splitMemberCluster } from '../catalog/abstract/abstract-kind.ts';
import { isAbstractKey } from '../catalog/groups/api-group.ts';
import { statesNamespace } from '../catalog/relations/place-text.ts';
import { textOfKind } from '../catalog/relations/relation.ts';
import { parsedPlaces } from '../catalog/resources/reference-places.ts';
import { clustersIn, type Filter, hopsIn, usesIn } from '../query/plan/filter.ts';
import { anyKind, type Hop, type HopEnd, hopEnd } from '../query/plan/hop.ts';
import type { View } from '../query/sql/view.ts';
import type { Operation } from './operation.ts';
import type { ResponsePath } from './parts/operation-trace.ts';

/** The parts of a list that read related objects. */
interface AskedOfRelated {
  readonly filter?: Filter;
  /** The hops of its orders, groups or facets. */
  readonly hops?: readonly Hop[];
  /** The clusters of its objects; null for all. Default: those of the filter. */
  readonly clusters?: readonly string[] | null;
}

/** Warns at the path of what a list asks of related objects that the caller may not see. */
export function warnOfHiddenEnds(
  operation: Operation,
  view: View,
  { filter, hops = [], clusters = filter === undefined ? null : clustersIn(filter) }: AskedOfRelated,
  path: ResponsePath,
): void {
  if (view.seesAll) return;
  const hiddenOf = (some: readonly Hop[]): readonly { readonly name: string; readonly kinds: string }[] =>
    some.flatMap((hop) => {
      const ends = hop.to.key === anyKind ? operation.generation.all.map(hopEnd) : [hop.to];
      const hidden = ends.filter((to) => !seesEnds(view, { ...hop, to }, clusters)).map(({ key }) => key);
      return hidden.length === 0 ? [] : [{ name: hop.name, kinds: shortList(hidden, 5).join(', ') }];
    });
  for (const { name, kinds } of filter === undefined ? [] : hiddenOf(hopsIn(filter))) {
    operation.warn(
      path,
      `You may not see all objects of ${kinds}. The condition on ${name} is about those that you may see: with exists: false, none, every or not, objects may match that would not match otherwise.`,
    );
  }
  for (const { name, kinds } of hiddenOf(hops)) {
    operation.warn(
      path,
      `You may not see all objects of ${kinds}. Values of ${name} are of those that you may see; others are absent and not counted.`,
    );
  }
  const hidden = filter === undefined ? [] : hiddenUsers(operation, view, usesIn(filter));
  if (hidden.length === 0) return;
  operation.warn(
    path,
    `You may not see all objects of ${shortList(hidden, 5).join(', ')}. The condition on usedBy is about the objects that you may see: others may use an object, too.`,
  );
}

/**
 * May the caller see every object that the hop leads to from objects that the caller may see?
 * @param clusters of these objects; null for all
 */
function seesEnds(view: View, { from, to, many, way }: Hop, clusters: readonly string[] | null): boolean {
  const ends = view.scopeOf(to.key, many ? 'list' : 'get');
  const start = scopeInside(view.scopeOf(from.key, 'list'), clusters);
  if (way.by === 'namespace')
    return seesNamespaces(start, ends, (cluster) =>
      isAbstractKey(from.key) ? splitMemberCluster(cluster).cluster : cluster,
    );
  const isNear = way.by !== 'reference' || !way.places.some(statesNamespace);
  return reaches(start, ends, { from, to, isNear });
}

/**
 * May the caller see the Namespace of each object?
 * @param of the scope of the objects
 * @param scope that of the Namespaces
 * @param clusterOf the cluster of the Namespaces for one of the objects
 */
function seesNamespaces(of: Scope, scope: Scope, clusterOf: (cluster: string) => string): boolean {
  if (of.rows !== 'some' || scope.rows !== 'some') return homesWithin(of, scope, false);
  return [...of.clusters].every(([cluster, part]) => {
    const seen = scope.clusters.get(clusterOf(cluster));
    if (seen === undefined || seen === 'all') return seen === 'all';
    const names = seen.names.get('');
    return part !== 'all' && [...part.namespaces, ...part.names.keys()].every((each) => names?.has(each) === true);
  });
}

/** As `scopeIn`, also for all rows. */
function scopeInside(scope: Scope, clusters: readonly string[] | null): Scope {
  if (scope.rows !== 'all' || clusters === null) return scopeIn(scope, clusters);
  return { rows: 'some', clusters: new Map(clusters.map((cluster) => [cluster, 'all'])) };
}

/** The kinds that may name objects of the kinds `of`, and of which the caller may not see all objects that do. */
function hiddenUsers({ generation }: Operation, view: View, of: readonly HopEnd[]): string[] {
  if (of.length === 0) return [];
  return generation.all.flatMap((kind): readonly string[] => {
    const end = hopEnd(kind);
    const isSeen = parsedPlaces(kind).every(({ target, namespace }) => {
      const named = of.filter((each) => 'kindAt' in target || textOfKind(each) === textOfKind(target));
      return named.every((each) =>
        reaches(view.scopeOf(each.key, 'list'), view.scopeOf(kind.key, 'list'), {
          from: each,
          to: end,
          isNear: namespace === null,
        }),
      );
    });
    return isSeen ? [] : [kind.key];
  });
}

/**
 * May the caller see every object of the kind `to` to which objects of `from` lead?
 * @param isNear related objects of two namespaced kinds are in one namespace
 */
export function reaches(
  from: Scope,
  to: Scope,
  ends: {
    readonly from: Pick<HopEnd, 'namespaced'>;
    readonly to: Pick<HopEnd, 'namespaced'>;
    readonly isNear: boolean;
  },
): boolean {
  return homesWithin(from, to, ends.isNear && ends.from.namespaced && ends.to.namespaced);
}
