/**
 * What a page that is written as text looks like: which columns, which values of the body and which constant texts stand one behind
 * the other. Plain data, which knows no query language and travels to the reader threads; page-writer.ts writes by it.
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';

/** How a JSON value is written. */
export type ValueShape =
  /** `otherwise` is a JSON text that stands where no value of this type is; `null` without it. */
  | { readonly is: 'leaf'; readonly type: LeafType; readonly otherwise?: string }
  /** Whether it is `true`. */
  | { readonly is: 'flag' }
  /** A JSON object as it is. */
  | { readonly is: 'record' }
  /** Any JSON as it is. */
  | { readonly is: 'any' }
  | { readonly is: 'list'; readonly of: ValueShape }
  /** Of a list's objects the first whose member `name` is this text. */
  | { readonly is: 'first'; readonly name: string; readonly equal: string; readonly of: ValueShape }
  /** An object's member of that name. */
  | { readonly is: 'entry'; readonly name: string; readonly of: ValueShape }
  | { readonly is: 'object'; readonly members: readonly ObjectMember[] };

export interface ObjectMember {
  /** The JSON text of its name in the answer. */
  readonly key: string;
  /** Its name in the stored object; null for a constant. */
  readonly name: string | null;
  /** How it is written, or the JSON text of the constant. */
  readonly value: ValueShape | string;
}

/** A part of a row's text. */
export type RowPart =
  | { readonly is: 'text'; readonly text: string }
  /** A column's text in quotes; `otherwise` where the column is null or empty. */
  | { readonly is: 'column'; readonly at: number; readonly otherwise: string }
  /** A column as the uid or the resourceVersion that callers see. */
  | { readonly is: 'uid' | 'version'; readonly at: number }
  /** A column that is an order key; `{"i":digits}` for a wide one, which is a text of digits. */
  | { readonly is: 'key'; readonly at: number; readonly wide: boolean }
  /** The value at `values[at]`. */
  | { readonly is: 'value'; readonly at: number; readonly shape: ValueShape }
  /** The parts, where there is an object at `objects[at]`; null elsewhere. */
  | { readonly is: 'object'; readonly at: number; readonly of: readonly RowPart[] }
  /** base64url of the parts' text, in quotes. */
  | { readonly is: 'opaque'; readonly of: readonly RowPart[] };

export interface PageTemplate {
  /** Texts of rows, for each list that is made of the page. */
  readonly lists: readonly (readonly RowPart[])[];
  /** The text that is wanted of the first row and of the last one; null when none is. */
  readonly first: readonly RowPart[] | null;
  readonly last: readonly RowPart[] | null;
  /** How many columns a line has before its values (page-lines.ts). */
  readonly columns: number;
  /** Where values and objects stand in the body, as member names. */
  readonly values: readonly (readonly string[])[];
  readonly objects: readonly (readonly string[])[];
}

/** The values that stand inside the object at `objects[at]`: where one of them is, so is the object. */
export function valuesBelow({ values, objects }: Pick<PageTemplate, 'values' | 'objects'>, at: number): number[] {
  const above = objects[at] ?? [];
  return values.flatMap((path, index) =>
    path.length > above.length && above.every((name, depth) => name === path[depth]) ? [index] : [],
  );
}
