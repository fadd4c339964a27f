/** A route of a planned list that is kept for its next pages. */
import type { Scopes } from '../../access/scope.ts';
import type { PlanNote } from '../../query/route/plan-note.ts';
import type { Route } from '../../query/sql/access-path.ts';
import type { KindView } from '../../query/sql/view.ts';
import type { PagesRead } from '../../store/types/page-reader.ts';
import type { Statement } from '../../store/types/statement.ts';
import type { PlannedList } from './answer-plan.ts';

/** How a list is read, and the facts that must still be true in the snapshot that reads it. */
export interface KnownRoute {
  /** Id of the caller's scopes. */
  readonly scopesId: string;
  readonly epoch: string;
  readonly layoutVersion: number;
  /** JSON list of the clusters in which the kind is synced, and the statement that reads it. */
  readonly clusters: string;
  readonly askClusters: Statement;
  readonly kind: KindView;
  readonly route: Route;
  /** Counts the list's matches in a short time; null if it takes long or is not wanted. */
  readonly count: Statement | null;
  /** The reasons for the route, for the index advisor; null if the planner noted none. */
  readonly note: PlanNote | null;
  /** Expiry, on the monotonic clock. */
  until: number;
}

/** The key of a list's route. Its pages share the route, which does not depend on the cursor or the selection. */
export function routeKey({ list: { key, fingerprint, plan } }: PlannedList, scopes: Pick<Scopes, 'id'>): string {
  return `${scopes.id} ${key} ${fingerprint} ${plan.page.limit}`;
}

/** Is the route still right in the snapshot that was read? @param clusters what `askClusters` read there */
export function isValid(known: KnownRoute, read: PagesRead, clusters: string): boolean {
  return known.epoch === read.epoch && known.layoutVersion === read.layoutVersion && known.clusters === clusters;
}
