/**
 * Projections as SQL: the projected body has the same shape as the body with fewer fields. Values are exact, int64 included.
 *
 *   { metadata: { name: true }, status: true }   ->
 *     CASE WHEN b.text IS NULL THEN json_object(
 *       'metadata', CASE json_type(b.body, '$."metadata"')
 *         WHEN 'object' THEN json_object('name', b.body -> '$."metadata"."name"') ELSE b.body -> '$."metadata"' END,
 *       'status', b.body -> '$."status"') ELSE b.text END
 *
 * An absent field becomes null; readers treat the two alike. A value that is not an object is returned whole, although the
 * projection expects an object, so projections may pass through lists. A body that SQLite refused is returned whole.
 */

import { allHealthColumns } from '../../store/types/kind-layout.ts';
import { type Fragment, join, raw, sql } from '../../store/types/sql.ts';
import type { Projection, ProjectionTree } from '../plan/plan.ts';

/** The columns of `object AS o` that `objectRow` (src/query/read/object-rows.ts) reads after the id and before the body. */
export const objectColumns = ['cluster', 'namespace', 'name', 'uid', 'rv', 'seq', ...allHealthColumns]
  .map((column) => `o.${column}`)
  .join(', ');
/** The number of columns of a row with id, {@link objectColumns} and body. Order keys follow them. */
export const objectValues = 8 + allHealthColumns.length;

/** With more fields, selecting them costs more than reading the whole body. */
const mostFields = 100;

/** SQLite refuses deeper expressions. The types in use are far from this depth. */
const mostDepth = 50;

/** An expression for the projected body as JSON text, over the alias `b` of `body`; null for an empty projection. */
export function projectionSql(projection: Projection): Fragment | null {
  if (projection === 'whole') return raw('coalesce(b.text, json(b.body))');
  if (Object.keys(projection).length === 0) return null;
  if (size(projection, 1) > mostFields) return raw('coalesce(b.text, json(b.body))');
  return sql`CASE WHEN b.text IS NULL THEN ${object(projection, '$')} ELSE b.text END`;
}

function size(tree: ProjectionTree, depth: number): number {
  if (depth > mostDepth) return Number.POSITIVE_INFINITY;
  let count = 0;
  for (const below of Object.values(tree)) count += below === true ? 1 : 1 + size(below, depth + 1);
  return count;
}

function object(tree: ProjectionTree, path: string): Fragment {
  const members = Object.entries(tree).map(([name, below]) => {
    const here = `${path}.${JSON.stringify(name)}`;
    const whole = sql`b.body -> ${here}`;
    // An empty subtree requests only the presence of the object.
    return below === true || Object.keys(below).length === 0
      ? sql`${name}, ${whole}`
      : sql`${name}, CASE json_type(b.body, ${here}) WHEN 'object' THEN ${object(below, here)} ELSE ${whole} END`;
  });
  return sql`json_object(${join(members, ', ')})`;
}
