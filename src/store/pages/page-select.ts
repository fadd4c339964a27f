/**
 * The SELECT that gives the rows of a page as lines (page-lines.ts), around a SELECT that finds the rows.
 *
 *   rows:  id, cluster, namespace, name, k0, k1, …      k<n> is the order key of the n-th term
 *   line:  [cluster, namespace, name, uid, resourceVersion, key, …, (objects, refused body,) [value, …]]
 *
 * The columns that begin a line are those of page-columns.ts.
 */
import { type Fragment, join, raw, sql } from '../types/sql.ts';

/** What a page shows of its objects: values and objects of the body, each by the names on the way, and versions. */
export interface PageProjection {
  readonly values: readonly (readonly string[])[];
  readonly objects: readonly (readonly string[])[];
  /** Are uid and resourceVersion shown? */
  readonly versions: boolean;
}

/**
 * One row for all rows of the page: how many they are, their lines, and how many bodies SQLite refused.
 * @param rows a SELECT with the columns above.
 * @param keys the order keys `k.k0`, `k.k1`, … as items of a JSON list.
 * @param full whether lines have the columns `objects` and `refused body`.
 */
export function pageSelect(
  rows: Fragment,
  keys: readonly Fragment[],
  { values, objects, versions }: PageProjection,
  full: boolean,
): Fragment {
  const readsBody = values.length > 0 || objects.length > 0;
  const joined = raw(
    `${versions ? ' CROSS JOIN object AS o ON o.id = k.id' : ''}${readsBody ? ' CROSS JOIN body AS b ON b.id = k.id' : ''}`,
  );
  const identity = raw(`k.cluster, nullif(k.namespace, ''), k.name, ${versions ? 'o.uid, o.rv' : 'NULL, NULL'}`);
  const refused = raw(readsBody ? 'b.text' : 'NULL');
  const columns = [identity, ...keys, ...(full ? [objectBits(objects), refused] : []), listOfValues(values)];
  return sql`SELECT count(*), group_concat(json_array(${join(columns, ', ')}), char(10)), count(${refused})
      FROM (${rows}) AS k${joined}`;
}

/** Each value as it was stored, null where there is none. Of two paths or more json_extract makes a list. */
function listOfValues(values: readonly (readonly string[])[]): Fragment {
  const [only] = values;
  if (only === undefined) return raw('json_array()');
  if (values.length === 1) return sql`json_array(b.body -> ${jsonPath(only)})`;
  return sql`json_extract(b.body, ${join(
    values.map((path) => sql`${jsonPath(path)}`),
    ', ',
  )})`;
}

/** A number whose bit `n` says that there is an object at `objects[n]`. */
function objectBits(objects: readonly (readonly string[])[]): Fragment {
  if (objects.length === 0) return raw('0');
  const bits = objects.map((path, at) => sql`((json_type(b.body, ${jsonPath(path)}) IS 'object') << ${BigInt(at)})`);
  return sql`(${join(bits, ' | ')})`;
}

function jsonPath(names: readonly string[]): string {
  return `$${names.map((name) => `.${JSON.stringify(name)}`).join('')}`;
}
