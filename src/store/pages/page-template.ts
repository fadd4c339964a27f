/**
 * The template of a page that is written as text: columns, values of the body and constant texts, in the order of the answer.
 * A template is plain data. It is sent to the reader threads, where page-writer.ts writes pages from it.
 *
 *   nodes { metadata { name } status { phase } }
 *     lists    [text '{"metadata":{"name":', column 2, text '},"status":', object 0 of [text '{"phase":', value 0, text '}'], text '}']
 *     values   [["status", "phase"]]     objects   [["status"]]
 *
 *   nodes { pods(first: 5) { nodes { kind } } }
 *     lists    [text '{"pods":', related 0, text '}']
 *     related  [{ pieces: ['{"nodes":', list 0, '}'], of: { lists: [text '{"kind":"Pod"}'], … } }]
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Items } from '../../catalog/values/displayed-value.ts';

/** How a JSON value is written. A value that does not fit ends the writing: the executor answers, with errors at its fields. */
export type ValueShape =
  /** `otherwise` is the JSON text for a value that is absent or does not fit; without it, these are `null` and a misfit. */
  | {
      readonly is: 'leaf';
      readonly type: LeafType;
      readonly values?: readonly string[];
      readonly otherwise?: string;
    }
  /** `true` for the value true, else `false`. */
  | { readonly is: 'flag' }
  /** A JSON object, unchanged. */
  | { readonly is: 'record' }
  /** Any JSON, unchanged. */
  | { readonly is: 'any' }
  | { readonly is: 'list'; readonly of: ValueShape; readonly items: Items }
  /** The first object of a list whose member `name` equals this text. */
  | { readonly is: 'first'; readonly name: string; readonly equal: string; readonly of: ValueShape }
  /** An object's member of that name. */
  | { readonly is: 'entry'; readonly name: string; readonly of: ValueShape }
  | { readonly is: 'object'; readonly members: readonly ObjectMember[] };

export interface ObjectMember {
  /** The JSON text of its name in the answer. */
  readonly key: string;
  /** Its name in the stored object; null for a constant. */
  readonly name: string | null;
  /** The value's shape, or the JSON text of the constant. */
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
  /** The parts, when the body has an object at `objects[at]`; else null. Another value is a misfit. */
  | { readonly is: 'object'; readonly at: number; readonly of: readonly RowPart[] }
  /** base64url of the parts' text, in quotes. */
  | { readonly is: 'opaque'; readonly of: readonly RowPart[] }
  /** The page of related objects at `related[at]`. */
  | { readonly is: 'related'; readonly at: number };

/**
 * A part of a page's text: a constant, a list of the template, or a fact about the page. The facts are: whether there is a next page
 * (`next`), the cursor of its first row (`start`), and the cursor of its last row (`end`).
 */
export type PagePiece = string | { readonly list: number } | 'next' | 'start' | 'end';

/** The pages of objects that are related to the rows of a page, one page for each row. */
export interface RelatedTemplate {
  /** Unique within the page. */
  readonly number: number;
  /** `only`: the first object of the page, in this list; null where the page is empty. */
  readonly pieces: readonly (PagePiece | { readonly only: number })[];
  /** The template of the related objects. Its lines have ids. */
  readonly of: PageTemplate;
}

export interface PageTemplate {
  /** The parts of one row, for each list that is written from the page. */
  readonly lists: readonly (readonly RowPart[])[];
  /** The parts of a text from the first row and from the last row, such as cursors; null when it is not needed. */
  readonly first: readonly RowPart[] | null;
  readonly last: readonly RowPart[] | null;
  /** The number of columns before the values in a line (page-lines.ts). */
  readonly columns: number;
  /** The column with the object's id in the store; null when lines have none. */
  readonly idAt: number | null;
  /** Only for a template whose lines have ids. */
  readonly related: readonly RelatedTemplate[];
  /** The paths of values and objects in the body, as member names. */
  readonly values: readonly (readonly string[])[];
  readonly objects: readonly (readonly string[])[];
}

/** The indexes of the values inside the object at `objects[at]`. If one of them is present, so is the object. */
export function valuesBelow({ values, objects }: Pick<PageTemplate, 'values' | 'objects'>, at: number): number[] {
  const above = objects[at] ?? [];
  return values.flatMap((path, index) =>
    path.length > above.length && above.every((name, depth) => name === path[depth]) ? [index] : [],
  );
}
