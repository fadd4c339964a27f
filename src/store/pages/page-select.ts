/**
 * Compiles the SELECT that returns a page's rows as lines (page-lines.ts), around a SELECT that finds the rows.
 *
 *   rows:  id, cluster, namespace, name, k0, k1, …      k<n> is the order key of the n-th term
 *   line:  [cluster, namespace, name, uid, resourceVersion, key, …, (parts of the health, …,) (id,) (objects, refused body,) [value, …]]
 *
 * For the value `status.phase`, without order keys, versions and health:
 *
 *   SELECT count(*),
 *     group_concat(json_array(k.cluster, nullif(k.namespace, ''), k.name, NULL, NULL, json_array(b.body -> ?)), char(10)),
 *     count(b.text),
 *     (SELECT revision || ' ' || layout_version FROM state)
 *   FROM (rows) AS k CROSS JOIN body AS b ON b.id = k.id                        ? is $."status"."phase"
 *
 * Versions and health come from the rows if these carry them, else from `object`, by another search of its tree.
 *
 * page-columns.ts has the first columns of a line.
 */
import type { HealthName } from '../../catalog/tree/path.ts';
import { healthColumns } from '../types/kind-layout.ts';
import { any, type Fragment, join, raw, sql } from '../types/sql.ts';
import { misfitObjects } from './page-columns.ts';

/** The parts of its objects that a page reads. Values and objects are paths of member names in the body. */
export interface PageProjection {
  readonly values: readonly (readonly string[])[];
  readonly objects: readonly (readonly string[])[];
  /** Are uid and resourceVersion read? */
  readonly versions: boolean;
  /** The parts of the health that are read. */
  readonly health: readonly HealthName[];
  /** Is the id in the store read? */
  readonly ids: boolean;
}

/**
 * One row for the whole page. page-lines.ts says what its columns are.
 * @param rows a SELECT with the columns above.
 * @param keys the order keys `k.k0`, `k.k1`, … as items of a JSON list.
 * @param full whether lines have the columns `objects` and `refused body`.
 * @param carried whether the rows have the columns uid, rv and those of the health too.
 */
export function pageSelect(
  rows: Fragment,
  keys: readonly Fragment[],
  { values, objects, versions, health, ids }: PageProjection,
  { full, carried }: { readonly full: boolean; readonly carried: boolean },
): Fragment {
  const object = carried ? 'k' : 'o';
  const readsBody = values.length > 0 || objects.length > 0;
  const joined = raw(
    `${!carried && (versions || health.length > 0) ? ' CROSS JOIN object AS o ON o.id = k.id' : ''}${readsBody ? ' CROSS JOIN body AS b ON b.id = k.id' : ''}`,
  );
  const identity = raw(
    `k.cluster, nullif(k.namespace, ''), k.name, ${versions ? `${object}.uid, ${object}.rv` : 'NULL, NULL'}`,
  );
  const refused = raw(readsBody ? 'b.text' : 'NULL');
  const columns = [
    identity,
    ...keys,
    ...health.map((name) => raw(`${object}.${healthColumns[name]}`)),
    ...(ids ? [raw('k.id')] : []),
    ...(full ? [objectBits(objects), refused] : []),
    listOfValues(values),
  ];
  return sql`SELECT count(*), group_concat(json_array(${join(columns, ', ')}), char(10)), count(${refused}),
      (SELECT revision || ' ' || layout_version FROM state)
      FROM (${rows}) AS k${joined}`;
}

/** A JSON list of the stored values, null for an absent one. With two paths or more, json_extract itself returns a list. */
function listOfValues(values: readonly (readonly string[])[]): Fragment {
  const [only] = values;
  if (only === undefined) return raw('json_array()');
  if (values.length === 1) return sql`json_array(b.body -> ${jsonPath(only)})`;
  return sql`json_extract(b.body, ${join(
    values.map((path) => sql`${jsonPath(path)}`),
    ', ',
  )})`;
}

/** A bit mask: bit `n` is set when the body has an object at `objects[n]`. `misfitObjects` if one of them is another value. */
function objectBits(objects: readonly (readonly string[])[]): Fragment {
  if (objects.length === 0) return raw('0');
  const types = objects.map((path) => sql`json_type(b.body, ${jsonPath(path)})`);
  const bits = types.map((type, at) => sql`((${type} IS 'object') << ${BigInt(at)})`);
  const misfits = types.map((type) => sql`coalesce(${type} NOT IN ('object', 'null'), 0)`);
  return sql`CASE WHEN ${any(misfits)} THEN ${BigInt(misfitObjects)} ELSE (${join(bits, ' | ')}) END`;
}

function jsonPath(names: readonly string[]): string {
  return `$${names.map((name) => `.${JSON.stringify(name)}`).join('')}`;
}
