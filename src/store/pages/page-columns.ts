/** The columns with which the line of a row begins (page-select.ts), and lists that are written from them. */
import type { RowPart } from './page-template.ts';

export const pageColumns = {
  cluster: 0,
  /** Null for a cluster-scoped object. */
  namespace: 1,
  name: 2,
  uid: 3,
  resourceVersion: 4,
} as const;

/** Order keys begin here. */
export const firstKeyColumn = Object.keys(pageColumns).length;

/** The parts of a JSON list whose items are these: each a part, or the parts of an inner list. */
export function jsonListParts(items: readonly (RowPart | readonly RowPart[])[]): readonly RowPart[] {
  const text = (json: string): RowPart => ({ is: 'text', text: json });
  return [text('['), ...items.flatMap((item, index) => (index === 0 ? item : [text(','), item].flat())), text(']')];
}
