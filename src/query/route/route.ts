/**
 * Which way a list goes through a kind's rows. Any way gives the same rows; they differ in how many rows are looked at.
 *
 *   order      along the index of the first order term, past rows that do not match, until the page is full
 *   identity   the same for the identity order, but only through the clusters and namespaces that the filter names
 *   path       all rows behind one condition of the filter, sorted
 *   scan       all rows of the kind, sorted
 *
 * A rare condition makes `path` fast and `order` slow, a common one the reverse. Statistics cannot tell them apart (a label's
 * values differ by orders of magnitude), so a bounded count in the same snapshot does.
 */

import type { Lease } from '../../store/types/lease.ts';
import { clustersIn, conjuncts, type Filter } from '../plan/filter.ts';
import type { OrderTerm } from '../plan/plan.ts';
import type { Route } from '../sql/access-path.ts';
import { type AccessPath, accessPaths, narrowest, type Survey, survey, surveyBound } from '../sql/access-path.ts';
import { isCreated, readySlot } from '../sql/kind-tables.ts';
import type { KindView } from '../sql/view.ts';
import { notePlan, type SurveyedPath } from './plan-note.ts';

/** More ranges than this are not worth a statement each. */
const mostSegments = 100;

/** Notes how it went for whoever observes the lease. */
export async function chooseRoute(
  lease: Lease,
  kind: KindView,
  filter: Filter,
  orderBy: readonly OrderTerm[],
  limit: number,
): Promise<Route> {
  const { route, ways } = await choose(lease, kind, filter, orderBy, limit);
  notePlan(lease, { kind, filter, orderBy, route: route.kind, ways });
  return route;
}

interface Choice {
  readonly route: Route;
  readonly ways: readonly SurveyedPath[];
}

async function choose(
  lease: Lease,
  kind: KindView,
  filter: Filter,
  orderBy: readonly OrderTerm[],
  limit: number,
): Promise<Choice> {
  const indexed = hasIndex(kind, orderBy);
  const paths = accessPaths(kind, filter);
  const named = clustersIn(filter);
  if (paths.length === 0) {
    if (!indexed) return { route: { kind: 'scan' }, ways: [] };
    const few = named !== null && named.length <= mostSegments;
    const identity = orderBy.length === 0 && few;
    return { route: identity ? { kind: 'identity', clusters: named, namespaces: null } : { kind: 'order' }, ways: [] };
  }
  const surveyed = await survey(lease, kind, paths);
  const ways = paths.map(({ on }, index) => ({ on, rows: surveyed.rows[index] ?? 0 }));
  return { route: routeBy(surveyed, paths, { indexed, named, filter, orderBy, limit }), ways };
}

interface Asked {
  readonly indexed: boolean;
  readonly named: readonly string[] | null;
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
  readonly limit: number;
}

function routeBy(surveyed: Survey, paths: readonly AccessPath[], asked: Asked): Route {
  const { indexed, named, filter, orderBy, limit } = asked;
  const best = narrowest(paths, surveyed);
  if (best === null) return { kind: 'scan' };
  if (!indexed) return { kind: 'path', path: best.path };
  // Along the order, a page costs about limit × total / matching rows; by the path, as many as there are behind it.
  if (best.rows <= surveyBound && best.rows * best.rows <= limit * surveyed.total)
    return { kind: 'path', path: best.path };
  if (orderBy.length > 0) return { kind: 'order' };
  const clusters = named ?? surveyed.clusters;
  const namespaces = namespacesIn(filter);
  if (named === null && namespaces === null) return { kind: 'order' };
  if (clusters.length * (namespaces?.length ?? 1) > mostSegments) return { kind: 'order' };
  return { kind: 'identity', clusters, namespaces };
}

/** Does an index hold the rows in this order, at least by the first term? */
function hasIndex(kind: KindView, orderBy: readonly OrderTerm[]): boolean {
  const [first] = orderBy;
  if (first === undefined) return true;
  if (first.natural === true || first.rank !== undefined) return false;
  return isCreated(first.path, first.type) || readySlot(kind, first.path, first.type) !== null;
}

function namespacesIn(filter: Filter): readonly string[] | null {
  for (const part of conjuncts(filter)) if (part.kind === 'namespaces') return part.in.filter((name) => name !== '');
  return null;
}
