/**
 * Chooses the route of a list through a kind's rows. Every route gives the same page; routes differ in the number of scanned
 * rows.
 *
 *   order      scans the index of the first order term, and skips rows that do not match, until the page is full
 *   identity   scans the identity index, but only the clusters and namespaces that the filter names
 *   path       reads all rows of one access path (src/query/sql/access-path.ts) and sorts them
 *   scan       reads all rows of the kind and sorts them
 *
 * A rare condition makes `path` fast and `order` slow; a common condition does the opposite. Table statistics cannot distinguish
 * the two, because the values of one label differ by orders of magnitude. So a bounded count in the same snapshot (survey)
 * decides.
 *
 * Example: 100,000 Pods ordered by an indexed leaf, filtered by a label, a limit of 51 rows. With 200 matching Pods, `path`
 * reads 200 rows, and `order` would read about 51 * 100,000 / 200 = 25,500. With more than 2,000 matching Pods (surveyBound),
 * the route is `order`.
 */

import type { Lease } from '../../store/types/lease.ts';
import { clustersIn, conjuncts, type Filter, withNamespace } from '../plan/filter.ts';
import { isOfStoredKey, type OrderTerm } from '../plan/plan.ts';
import {
  accessPaths,
  narrowest,
  type Route,
  type SizedPath,
  type Survey,
  survey,
  surveyBound,
} from '../sql/access-path.ts';
import { isCreated, readySlot } from '../sql/kind-tables.ts';
import type { KindView } from '../sql/view.ts';
import { notePlan, type SurveyedPath } from './plan-note.ts';
import { scopedFilter } from './scoped-filter.ts';

/** Each range is a statement. With more ranges, one scan is cheaper. */
const mostSegments = 100;

/** The route of a list. Notes the plan for the lease's observer. */
export async function chooseRoute(
  lease: Lease,
  kind: KindView,
  filter: Filter,
  orderBy: readonly OrderTerm[],
  limit: number,
): Promise<Route> {
  return (await choosePaths(lease, kind, filter, orderBy, limit)).route;
}

/** As chooseRoute, with the access path that counts the matches. */
export async function choosePaths(
  lease: Lease,
  kind: KindView,
  filter: Filter,
  orderBy: readonly OrderTerm[],
  limit: number,
): Promise<ChosenPaths> {
  const { surveyedPaths, ...chosen } = await choose(lease, kind, scopedFilter(kind, filter), orderBy, limit);
  notePlan(lease, { kind, filter, orderBy, route: chosen.route.kind, surveyedPaths });
  return chosen;
}

/** A route, and the path that it was chosen from. */
export interface ChosenPaths {
  readonly route: Route;
  /** The access path with the fewest rows; null without access paths. */
  readonly best: SizedPath | null;
}

interface Choice extends ChosenPaths {
  readonly surveyedPaths: readonly SurveyedPath[];
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
    if (!indexed) return { route: { kind: 'scan' }, best: null, surveyedPaths: [] };
    const few = named !== null && named.length <= mostSegments;
    const identity = orderBy.length === 0 && few;
    return {
      route: identity ? { kind: 'identity', clusters: named, namespaces: null } : { kind: 'order' },
      best: null,
      surveyedPaths: [],
    };
  }
  const surveyed = await survey(lease, kind, paths);
  const surveyedPaths = paths.map(({ on }, index) => ({ on, rows: surveyed.rows[index] ?? 0 }));
  const best = narrowest(paths, surveyed);
  return { route: routeBy(surveyed, best, { indexed, named, filter, orderBy, limit }), best, surveyedPaths };
}

interface RouteRequest {
  readonly indexed: boolean;
  readonly named: readonly string[] | null;
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
  readonly limit: number;
}

function routeBy(surveyed: Survey, best: SizedPath | null, request: RouteRequest): Route {
  const { indexed, named, filter, orderBy, limit } = request;
  if (best === null) return { kind: 'scan' };
  if (!indexed) return { kind: 'path', ...best };
  // The order scans about limit × total / matching rows. The path reads its own rows.
  if (best.rows <= surveyBound && best.rows * best.rows <= limit * surveyed.total) return { kind: 'path', ...best };
  if (orderBy.length > 0) return { kind: 'order' };
  const clusters = named ?? surveyed.clusters;
  const namespaces = namespacesIn(filter);
  if (named === null && namespaces === null) return { kind: 'order' };
  if (clusters.length * (namespaces?.length ?? 1) > mostSegments) return { kind: 'order' };
  return { kind: 'identity', clusters, namespaces };
}

/** Does an index hold the rows in the order of the first term? */
function hasIndex(kind: KindView, orderBy: readonly OrderTerm[]): boolean {
  const [first] = orderBy;
  if (first === undefined) return true;
  if (!isOfStoredKey(first)) return false;
  return isCreated(first.path, first.type) || readySlot(kind, first.path, first.type) !== null;
}

function namespacesIn(filter: Filter): readonly string[] | null {
  for (const part of conjuncts(filter)) if (part.kind === 'namespaces') return withNamespace(part.in);
  return null;
}
