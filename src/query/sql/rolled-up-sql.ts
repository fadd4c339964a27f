/**
 * The rolled-up health of a row as SQL: the worst of the object and of all that it owns.
 *
 *   severity   max(<that of o.health>, coalesce((SELECT severity FROM rolled_up WHERE id = o.id), (WITH RECURSIVE tree … )))
 *
 * The stored health (src/store/relations/rolled-up-rows.ts) is about all objects. So it serves only callers who see all of them. For
 * others, and where nothing is stored, the statement walks through the owned objects that count.
 *
 * The row of an abstract kind has the roll-up of the object from which it was derived.
 */

import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import { bySeverity } from '../../catalog/health/health-status.ts';
import type { RollUpName } from '../../catalog/tree/path.ts';
import { ownedTreeSql, severitySql } from '../../store/types/owned-tree.ts';
import { isPublishedOfAny } from '../../store/types/published.ts';
import { all, type Fragment, raw, sql } from '../../store/types/sql.ts';
import { countsOfAny } from './counts.ts';
import { tickAt } from './tick.ts';
import type { View } from './view.ts';

/**
 * A part of the rolled-up health of a row. The view then depends on objects of any kind.
 * @param row the alias of a row of `object`
 * @param member an unused alias
 */
export function rolledUpSql(
  { key, view }: { readonly key: string; readonly view: View },
  row: Fragment,
  member: Fragment,
  name: RollUpName,
): Fragment {
  view.dependOnAnyKind();
  const below = isAbstractKey(key) ? belowMember(view, row, member) : belowObject(view, row);
  const severity = sql`max(${raw(severitySql(`${row.sql}.health`))}, ${below})`;
  if (name === 'severity') return severity;
  return sql`CASE ${severity} ${raw(bySeverity.map((status, each) => `WHEN ${each} THEN '${status}'`).join(' '))} END`;
}

/** The severity of the worst that the object owns. */
function belowObject(view: View, row: Fragment): Fragment {
  const column = (name: string): Fragment => raw(`${row.sql}.${name}`);
  const root = { id: column('id'), uid: column('uid'), cluster: column('cluster'), namespace: column('namespace') };
  const computed = sql`(${ownedTreeSql(root, all([tickAt('o.id', 256), countsOfAny(view)]))} SELECT max(severity) FROM tree)`;
  if (!view.seesAll) return computed;
  return sql`coalesce((SELECT nullif(severity, -1) FROM rolled_up WHERE id = ${root.id}), ${computed})`;
}

/** The same for the object from which a row of an abstract kind was derived. The row's cluster is that of `memberCluster`. */
function belowMember(view: View, row: Fragment, member: Fragment): Fragment {
  const start = sql`rtrim(${row}.cluster, replace(${row}.cluster, '/', ''))`;
  const part = sql`substr(${row}.cluster, length(${start}) + 1)`;
  return sql`coalesce((SELECT ${belowObject(view, member)} FROM object AS ${member}
    WHERE ${member}.kind = (SELECT id FROM kind WHERE key = substr(${part}, 1, instr(${part} || '+', '+') - 1))
      AND ${member}.cluster = substr(${start}, 1, length(${start}) - 1)
      AND ${member}.namespace = ${row}.namespace AND ${member}.name = ${row}.name AND ${isPublishedOfAny(member)} LIMIT 1), 0)`;
}
