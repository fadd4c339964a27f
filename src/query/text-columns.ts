/** The columns of a page that is written as text, behind those that the store reads itself; order keys follow. */
import { pageColumns } from '../store/page-text.ts';

export const textColumns = {
  cluster: pageColumns.first,
  /** Empty for a cluster-scoped object. */
  namespace: pageColumns.first + 1,
  name: pageColumns.first + 2,
  uid: pageColumns.first + 3,
  resourceVersion: pageColumns.first + 4,
  firstKey: pageColumns.first + 5,
} as const;
