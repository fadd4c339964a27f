/** The columns with which the line of a row begins (src/store/pages/page-lines.ts); order keys follow. */
export const textColumns = {
  cluster: 0,
  /** Null for a cluster-scoped object. */
  namespace: 1,
  name: 2,
  uid: 3,
  resourceVersion: 4,
} as const;

export const firstKeyColumn = Object.keys(textColumns).length;
