/** Rows that count, for reads over several kinds at once. */
import { raw } from './sql.ts';

/** A row of `object AS o` counts when its rowset is the published one of its kind in its cluster. */
export const publishedObject = raw(
  `EXISTS (SELECT 1 FROM resource AS r
    WHERE r.cluster = o.cluster AND r.kind = o.kind AND r.rowset = o.rowset AND r.synced = 1)`,
);
