/**
 * How much of a body is read, as SQL: a thinner object of the same shape, with every value as it was stored (int64 included).
 *
 * A field that is absent comes as null, which readers take for the same. A place where the projection expects an object and
 * something else stands is given whole, so lists may be projected through. A body that SQLite refused comes whole.
 */

import { type Fragment, join, raw, sql } from '../../store/types/sql.ts';
import type { Projection, ProjectionTree } from '../plan/plan.ts';

/** Above this many fields, picking them costs more than reading all. */
const mostFields = 100;

/** SQLite refuses deeper expressions; no type in use is nearly as deep. */
const mostDepth = 50;

/** An expression over the alias `b` of `body`, or null when nothing of the body is asked for. It gives JSON text. */
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
    // With nothing below, all that is asked is whether there is an object.
    return below === true || Object.keys(below).length === 0
      ? sql`${name}, ${whole}`
      : sql`${name}, CASE json_type(b.body, ${here}) WHEN 'object' THEN ${object(below, here)} ELSE ${whole} END`;
  });
  return sql`json_object(${join(members, ', ')})`;
}
