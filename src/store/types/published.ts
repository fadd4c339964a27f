/** The condition that a row is published: its rowset is that of a collection whose first sync is over. */
import { type Fragment, sql } from './sql.ts';

/** The condition that a row of `object` is published, for rows of any kind. @param o the alias of the row. */
export function isPublishedOfAny(o: Fragment): Fragment {
  return sql`EXISTS (SELECT 1 FROM resource AS published
    WHERE published.cluster = ${o}.cluster AND published.kind = ${o}.kind AND published.rowset = ${o}.rowset AND published.synced = 1)`;
}
