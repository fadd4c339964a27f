/**
 * Pages of related objects as text. The reader thread writes the rows (src/store/pages/page-writer.ts). Plan and inner statements are
 * those of relatedPages (related-list.ts). So cursors, ids and the objects of each page are the same.
 *
 * The statement has three parts:
 *   j   the ids of the rows
 *   f   for each row, the ids of its related objects as a JSON list
 *   p   one line for each object in f, also for an object that is related to several rows
 *
 *   WITH j AS MATERIALIZED (SELECT key, value FROM json_each(<ids of the rows>)),
 *     f AS MATERIALIZED (SELECT j.key AS at, <JSON list of related ids> AS ids FROM j CROSS JOIN object AS s ON s.id = j.value)
 *   SELECT p.*, (SELECT json_group_array(json(ids)) FROM f) FROM (<lines of the objects in f, each once>) AS p
 */
import { type PageProjection, pageSelect } from '../../store/pages/page-select.ts';
import type { RelatedRequest } from '../../store/types/page-reader.ts';
import { type Fragment, join, raw, sql } from '../../store/types/sql.ts';
import { decodeCursor } from '../plan/cursor.ts';
import type { Position } from '../plan/plan.ts';
import { notReady } from '../read/readiness.ts';
import { surveyBound } from '../sql/access-path.ts';
import { KindTables } from '../sql/kind-tables.ts';
import { jsonKey } from '../sql/leaf-key.ts';
import { keyColumns, travelOrder } from '../sql/sql-order.ts';
import type { KindView, View } from '../sql/view.ts';
import { idListOf, type RelatedPlan, relatedFingerprint } from './related-list.ts';

/** A page of related objects, with its cursor decoded. */
export interface RelatedLineList {
  /** resourceKey of the related objects. */
  readonly key: string;
  readonly plan: RelatedPlan;
  readonly limit: number;
  readonly fingerprint: string;
  readonly position: Position | null;
}

/** @throws PortolanError BAD_USER_INPUT for a cursor of another list. */
export function relatedLineList(plan: RelatedPlan, limit: number, after: string | null): RelatedLineList {
  const fingerprint = relatedFingerprint(plan);
  const position = after === null ? null : decodeCursor(after, fingerprint);
  return { key: plan.hop.to.key, plan, limit, fingerprint, position };
}

/**
 * The request to a reader. It finds one object more than a page holds, which shows whether there is a next page.
 * @param below the requests for what is related to these objects.
 * @throws PortolanError CACHE_NOT_READY while the relation is not ready.
 */
export function relatedRequest(
  view: View,
  list: RelatedLineList,
  projection: PageProjection,
  below: readonly RelatedRequest[],
): RelatedRequest {
  const kind = view.end(list.plan.hop);
  if (kind === undefined) throw notReady([], [list.key]);
  return {
    statement: relatedLines(kind, list, projection, false),
    fullStatement: relatedLines(kind, list, projection, true),
    shown: list.limit,
    related: below,
  };
}

/** A statement whose first parameter is the JSON list of ids. */
function relatedLines(
  kind: KindView,
  { plan, limit, position }: RelatedLineList,
  projection: PageProjection,
  full: boolean,
): Fragment {
  const ids = idListOf(kind, plan, { limit: limit + 1, position, walkAbove: surveyBound });
  const tables = new KindTables(kind, 'o');
  const order = travelOrder(tables, plan.orderBy, false);
  const columns = [raw('o.id, o.cluster, o.namespace, o.name'), ...keyColumns(order)];
  const rows = sql`SELECT ${join(columns, ', ')}
    FROM (SELECT DISTINCT e.value AS id FROM f CROSS JOIN json_each(f.ids) AS e WHERE e.key < ${BigInt(limit)}) AS d
    CROSS JOIN object AS o ON o.id = d.id${tables.joins()} WHERE ${tables.tick()}`;
  const keys = order.terms.map(({ type }, index) => jsonKey(type, raw(`k.k${index}`)));
  // The parents stand first, so that their ids are the first parameter.
  return sql`WITH j AS MATERIALIZED (SELECT key, value FROM json_each(${'[]'})),
      f AS MATERIALIZED (SELECT j.key AS at, ${ids} AS ids FROM j CROSS JOIN object AS s ON s.id = j.value)
    SELECT p.*, (SELECT json_group_array(json(ids)) FROM (SELECT ids FROM f ORDER BY at)) FROM (${pageSelect(rows, keys, projection, { full, carried: false })}) AS p`;
}
