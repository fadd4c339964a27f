/** The first columns of a row's line (page-select.ts), and JSON lists written from row parts. */
import type { RowPart } from './page-template.ts';

export const pageColumns = {
  cluster: 0,
  /** Null for a cluster-scoped object. */
  namespace: 1,
  name: 2,
  uid: 3,
  resourceVersion: 4,
} as const;

/** The column `objects` of a full line if a value is no object where an object is expected. */
export const misfitObjects = -1;

/** The index of the first order key in a line. */
export const firstKeyColumn = Object.keys(pageColumns).length;

/** The parts that write a JSON list. Each item is one part, or several parts that together write one item. */
export function jsonListParts(items: readonly (RowPart | readonly RowPart[])[]): readonly RowPart[] {
  const text = (json: string): RowPart => ({ is: 'text', text: json });
  return [text('['), ...items.flatMap((item, index) => (index === 0 ? item : [text(','), item].flat())), text(']')];
}
